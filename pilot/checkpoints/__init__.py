"""Checkpoints of jobs on a storage, for later attempts."""
