"""The DMS's REST interface."""
