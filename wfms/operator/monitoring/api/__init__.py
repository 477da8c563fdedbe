"""Routes of monitoring."""
