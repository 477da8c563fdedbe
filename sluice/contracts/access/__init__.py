"""Contracts of accounts, permissions, quotas and the audit log."""
