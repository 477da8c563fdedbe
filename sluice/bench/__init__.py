"""Benchmarks: each measures Sluice and a peer in the same run, on the same machine, and judges by
their ratio.
"""
