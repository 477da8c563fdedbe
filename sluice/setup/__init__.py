"""What an administrator does for a system of separate processes: logins, databases, rights, queues.
All of it can be repeated.
"""
