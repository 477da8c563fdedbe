"""Use cases of the task watcher, one file each."""
