"""Observation of chains: their progress, the reasons why they wait, and the logs of jobs."""
