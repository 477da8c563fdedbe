"""Use cases for storages."""
