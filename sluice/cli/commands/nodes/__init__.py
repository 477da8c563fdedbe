"""Commands about pilots, sites, queues and limits."""
