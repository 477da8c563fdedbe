"""Use cases: drafts of templates."""
