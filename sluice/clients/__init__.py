"""HTTP clients of the services."""
