"""The task watcher of the WfMS: follows tasks and uploads until they end, tells the chain service,
and has deleted what it releases.
"""
