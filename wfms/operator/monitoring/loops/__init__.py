"""Background loops of monitoring."""
