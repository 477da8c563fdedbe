"""Routes of assets."""
