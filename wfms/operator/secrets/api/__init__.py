"""Routes of secrets."""
