"""Revisions of the catalogue's schema."""
