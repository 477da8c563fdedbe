"""Background loops of chains."""
