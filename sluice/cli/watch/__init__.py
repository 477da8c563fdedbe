"""Following what the system does: chains, the reasons why they wait, the logs of jobs."""
