"""What is kept of jobs on a storage, for their next attempts."""
