"""The operator service of the WfMS: keeps the templates, and shows people and scripts what the
other services know; it passes on what they want done.
"""
