"""Authentication of pilots."""
