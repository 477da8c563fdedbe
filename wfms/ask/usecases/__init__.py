"""Use cases of the service for human tasks, one file each."""
