"""The Alembic environment that all services share."""
