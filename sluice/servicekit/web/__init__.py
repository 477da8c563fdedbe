"""The HTTP server, its limits and its answers."""
