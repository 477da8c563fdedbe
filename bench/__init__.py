"""Benchmarks that compare Sluice with a peer in the same run on the same machine.

They judge by the ratio of both.
"""
