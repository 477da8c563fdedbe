"""The embedded system: all services in one process for one user."""
