"""Use cases: chains."""
