"""Use cases: tokens."""
