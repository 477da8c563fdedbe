"""Types and pure functions of templates."""
