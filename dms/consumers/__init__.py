"""Handlers of the messages that the DMS receives."""
