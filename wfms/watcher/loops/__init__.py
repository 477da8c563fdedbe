"""Background loops of the task watcher."""
