"""Types and pure functions of chains."""
