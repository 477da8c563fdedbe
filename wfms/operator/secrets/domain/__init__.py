"""Types and pure functions of secrets."""
