"""Use cases of the chain service."""
