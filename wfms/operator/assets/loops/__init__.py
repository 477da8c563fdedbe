"""Background loops of assets."""
