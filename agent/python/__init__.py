"""Python: its symbols, its names and its stubs. Index and coding stand on this package."""
