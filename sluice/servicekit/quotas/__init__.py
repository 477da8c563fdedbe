"""Quotas of groups and people on what a service stores."""
