"""The intake of the WfMS.

It matches each data set that was closed with the templates, and hands it to the chain service.
"""
