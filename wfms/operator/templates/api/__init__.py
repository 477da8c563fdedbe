"""Routes of templates."""
