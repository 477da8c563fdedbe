"""What a pilot does all the time: ask for jobs, renew leases, send reports, watch deadlines."""
