"""Revisions of the schema of the service for human tasks."""
