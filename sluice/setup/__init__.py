"""Administration of a system of separate processes: logins, databases, permissions, queues.

All of it can be repeated.
"""
