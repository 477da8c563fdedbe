"""Routes of gateway."""
