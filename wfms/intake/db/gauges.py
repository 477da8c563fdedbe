"""Gauges of the intake, read from its tables."""

from sluice.servicekit.gauges import Measurement, read_rows

_COUNT_UNMATCHED = "SELECT count(*) FROM unmatched"
_COUNT_TIES = "SELECT count(*) FROM ties"
_COUNT_HANDOVERS = "SELECT count(*) FROM handovers"
_SELECT_MAX_TRIES = "SELECT coalesce(max(attempts), 0) FROM handovers"

MEASUREMENTS = (
    Measurement(
        "sluice_unmatched_datasets",
        "Data sets that match no template.",
        read_rows(_COUNT_UNMATCHED),
    ),
    Measurement(
        "sluice_template_ties",
        "Pairs of templates of the same priority that match the same data sets.",
        read_rows(_COUNT_TIES),
    ),
    Measurement(
        "sluice_handovers",
        "Matched data sets whose chains are still to be started.",
        read_rows(_COUNT_HANDOVERS),
    ),
    Measurement(
        "sluice_handover_tries",
        "The maximum number of attempts to start a chain, or 0.",
        read_rows(_SELECT_MAX_TRIES),
    ),
)
