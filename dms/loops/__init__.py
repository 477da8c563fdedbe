"""Background loops of the DMS."""
