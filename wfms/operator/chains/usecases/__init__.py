"""Use cases of chains."""
