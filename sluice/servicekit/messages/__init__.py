"""Consumers, the outbox and queues."""
