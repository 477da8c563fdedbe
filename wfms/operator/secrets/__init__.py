"""Secrets and the templates that may use them."""
