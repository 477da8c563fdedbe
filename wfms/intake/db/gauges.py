"""Gauges of the intake, read from its tables."""

from sluice.servicekit.gauges import Measurement, rows_of

UNMATCHED = "SELECT count(*) FROM unmatched"
TIES = "SELECT count(*) FROM ties"
HANDOVERS = "SELECT count(*) FROM handovers"
TRIES = "SELECT coalesce(max(attempts), 0) FROM handovers"

MEASUREMENTS = (
    Measurement(
        "sluice_unmatched_datasets", "Data sets that match no template.", rows_of(UNMATCHED)
    ),
    Measurement(
        "sluice_template_ties",
        "Pairs of templates of the same priority that match the same data sets.",
        rows_of(TIES),
    ),
    Measurement(
        "sluice_handovers",
        "Matched data sets whose chains are still to be started.",
        rows_of(HANDOVERS),
    ),
    Measurement(
        "sluice_handover_tries",
        "The maximum number of attempts to start a chain, or 0.",
        rows_of(TRIES),
    ),
)
