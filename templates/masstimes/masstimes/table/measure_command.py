"""`mt-measure` computes the recall and precision of a table."""

import argparse
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from masstimes.classifier.measures import Measures
from sluice.packs.programs import BadData, Parser, read_input, run_command, write_complete

#: The sources of the rows that are measured.
_SOURCES = {
    "rules": ("rules", "both"),
    "classifier": ("classifier", "both"),
    "both": ("rules", "classifier", "both"),
}
#: The domain of a site, and a time.
Mass = tuple[str, str]


def read_truth(path: Path) -> set[Mass]:
    """Return the true masses.

    The file is ``{"sites": {id: {"domain": …, "sundays": [time], "weekdays": [time]}}}``, with
    optional ``holidays``.

    Raises:
        MissingInput: The file cannot be opened.
        BadData: The file has something else.
    """
    try:
        sites = json.loads(read_input(path))["sites"].values()
        return {
            (str(site["domain"]), str(time))
            for site in sites
            for time in (*site["sundays"], *site["weekdays"], *site.get("holidays", ()))
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadData(
            path, "this is not the truth: JSON with sites, each with domain, sundays and weekdays"
        ) from error


def measure(
    table: Sequence[dict[str, Any]], truth: Collection[Mass]
) -> dict[str, dict[str, float | int | None]]:
    """Return measures for the rules alone, the classifier alone, and both."""
    true_masses = set(truth)
    measures = {}
    for name, sources in _SOURCES.items():
        masses = {(row["domain"], row["time"]) for row in table if row["source"] in sources}
        counts = Measures(
            len(masses & true_masses), len(masses - true_masses), len(true_masses - masses)
        )
        measures[name] = {
            "recall": counts.recall,
            "precision": counts.precision,
            "f1": counts.f1,
            "right": counts.true_positives,
            "wrong": counts.false_positives,
            "missed": counts.false_negatives,
        }
    return measures


def _work(arguments: argparse.Namespace) -> None:
    from masstimes.table.files import read_table  # noqa: PLC0415 - pyarrow takes a while

    measures = measure(read_table(arguments.table), read_truth(arguments.truth))
    text = json.dumps(measures, indent=1) + "\n"
    if arguments.out:
        write_complete(arguments.out, text.encode())
    print(text, end="")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-measure` and return its exit code."""
    parser = Parser(
        prog="mt-measure",
        description="Compute the recall and precision of a table of mass times.",
    )
    add = parser.add_argument
    add(
        "--table",
        type=Path,
        required=True,
        metavar="FILE",
        help="Table that mt-table wrote, as Parquet or CSV",
    )
    add(
        "--truth",
        type=Path,
        required=True,
        metavar="FILE",
        help="JSON file with the true mass times of each site, whose domain is as in the table",
    )
    add(
        "--out",
        type=Path,
        metavar="FILE",
        help="JSON file to write the measures to, besides standard output (default: none)",
    )
    return run_command(parser, _work, argv)
