"""Background loops of the WMS."""
