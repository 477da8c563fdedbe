"""The REST interface of the task watcher."""
