"""The service for human tasks.

It stores items, assigns them to browsers and counts answers. It finds browsers that answer
carelessly, and delivers the agreed answers to the WMS.
"""
