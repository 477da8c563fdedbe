"""Gauges of the intake, read from its tables."""

from sluice.servicekit.gauges import Measurement, read_rows

UNMATCHED = "SELECT count(*) FROM unmatched"
TIES = "SELECT count(*) FROM ties"
HANDOVERS = "SELECT count(*) FROM handovers"
TRIES = "SELECT coalesce(max(attempts), 0) FROM handovers"

MEASUREMENTS = (
    Measurement(
        "sluice_unmatched_datasets", "Data sets that match no template.", read_rows(UNMATCHED)
    ),
    Measurement(
        "sluice_template_ties",
        "Pairs of templates of the same priority that match the same data sets.",
        read_rows(TIES),
    ),
    Measurement(
        "sluice_handovers",
        "Matched data sets whose chains are still to be started.",
        read_rows(HANDOVERS),
    ),
    Measurement(
        "sluice_handover_tries",
        "The maximum number of attempts to start a chain, or 0.",
        read_rows(TRIES),
    ),
)
