"""Use cases: groups."""
