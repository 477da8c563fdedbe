"""Background loops of a pilot: leasing, heartbeats, reports and deadlines."""
