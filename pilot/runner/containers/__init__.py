"""Tools in containers."""
