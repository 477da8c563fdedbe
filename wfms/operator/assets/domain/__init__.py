"""Types and pure functions of assets."""
