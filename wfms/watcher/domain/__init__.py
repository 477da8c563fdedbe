"""Rules of the task watcher: pure functions and tables."""
