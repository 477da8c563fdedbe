"""Revisions of the schema of the task watcher."""
