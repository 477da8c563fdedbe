"""Use cases: accounts of people."""
