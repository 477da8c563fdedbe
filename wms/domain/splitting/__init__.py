"""From the files of a task to its jobs."""
