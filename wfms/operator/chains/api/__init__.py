"""Routes of chains."""
