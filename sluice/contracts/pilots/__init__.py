"""Contracts of pilots, nodes and sites."""
