"""Background loops of the chain service."""
