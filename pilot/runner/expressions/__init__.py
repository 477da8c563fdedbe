"""JavaScript expressions of templates and their sandbox."""
