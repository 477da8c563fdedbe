"""Messages between services, and the queues that carry them."""
