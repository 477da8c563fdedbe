"""Use cases of gateway."""
