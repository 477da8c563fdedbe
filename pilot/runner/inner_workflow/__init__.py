"""A workflow or expression tool inside one job, in a process of its own."""
