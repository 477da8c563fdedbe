"""Commands that set up, start and inspect an installation, and its queues of messages."""
