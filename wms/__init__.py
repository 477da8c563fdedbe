"""The WMS, workload management: cuts tasks into jobs, leases them to pilots, judges how they end,
and ends the task."""
