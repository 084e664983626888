"""The query-release games as synthesis methods."""
