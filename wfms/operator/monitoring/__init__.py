"""Notices, notifications, the audit log and queues."""
