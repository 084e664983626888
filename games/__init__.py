"""The mathematics of query-release games, and the one door to private data."""
