"""Use cases: the library of tools."""
