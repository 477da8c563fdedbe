"""Schema migrations of the chain service."""
