"""Gauges of the intake, read from its tables."""

from sluice.servicekit.gauges import Measurement, rows_of

UNMATCHED = "SELECT count(*) FROM unmatched"
TIES = "SELECT count(*) FROM ties"
HANDOVERS = "SELECT count(*) FROM handovers"
TRIES = "SELECT coalesce(max(attempts), 0) FROM handovers"

MEASUREMENTS = (
    Measurement("sluice_unmatched_datasets", "Data sets that fit no template.", rows_of(UNMATCHED)),
    Measurement(
        "sluice_template_ties",
        "Pairs of templates of one priority that match the same data sets.",
        rows_of(TIES),
    ),
    Measurement(
        "sluice_handovers",
        "Data sets decided upon that the chain service does not know yet.",
        rows_of(HANDOVERS),
    ),
    Measurement(
        "sluice_handover_tries", "Tries so far of the one tried most; 0: none.", rows_of(TRIES)
    ),
)
