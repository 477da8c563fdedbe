"""The chain service of the WfMS.

It carries each data set through the steps of its template, and says which data can be deleted.
"""
