"""Processes that run jobs.

One process loads cwltool once and forks a process for each slot.
"""
