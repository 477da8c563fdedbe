"""The DMS's periodic work."""
