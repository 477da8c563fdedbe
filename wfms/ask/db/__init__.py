"""Statements on the tables of the service for human tasks, and typed functions around them."""
