"""Use cases of assets."""
