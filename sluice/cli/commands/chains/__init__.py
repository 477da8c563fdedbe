"""Commands about chains, their tasks and jobs."""
