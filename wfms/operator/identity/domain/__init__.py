"""Types and pure functions of identity."""
