"""Quotas of groups and people, as each service keeps those of what it keeps."""
