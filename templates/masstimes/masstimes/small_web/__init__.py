"""A small simulated web to test the programs on, served on this machine.

It has sites of parishes, lists of parishes by diocese and a places API. The truth about its mass
times is available for measurements.
"""
