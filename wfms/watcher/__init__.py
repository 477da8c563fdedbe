"""The task watcher of the WfMS.

It follows tasks and uploads until they end and tells the chain service. It then lets the DMS delete
the data sets that the chain service releases.
"""
