"""Message transports between services."""
