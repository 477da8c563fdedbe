"""Routes of identity."""
