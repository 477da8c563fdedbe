"""The WMS (workload management system): splits tasks into jobs and leases them to pilots.

It decides what follows from each attempt, and ends the tasks.
"""
