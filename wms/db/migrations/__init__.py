"""Alembic migrations of the WMS database."""
