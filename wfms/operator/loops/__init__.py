"""Background loops of the operator service."""
