"""Use cases of templates."""
