"""Background loops of secrets."""
