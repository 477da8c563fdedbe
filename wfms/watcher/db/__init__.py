"""Statements on the tables of the task watcher, and typed functions around them."""
