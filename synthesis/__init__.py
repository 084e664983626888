"""The outside world: tables in and out, synthesis methods, releases, reports, command line."""
