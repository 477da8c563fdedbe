"""Commands about steps, tasks, jobs and their logs, limits of resources, and simulated jobs."""
