"""Use cases: leases of clients."""
