"""`mt-table` makes one table of all mass times, each with its source."""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from masstimes.classifier.examples import read_candidates
from masstimes.pages import read_lines
from masstimes.table.merging import Evidence, merge_rows
from masstimes.table.parishes import read_parishes
from sluice.packs.programs import BadData, Parser, run_command, write_complete
from sluice.text.visible_text import quoted

_PROGRAM = "mt-table"
#: The number of parishes without times that a message names.
_MAX_NAMES = 10
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}")


def _orders(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        for number, line in enumerate(read_lines(path, fields=("domain", "url")), 1):
            for name in ("sundays", "weekdays"):
                times = line.get(name)
                if not isinstance(times, list) or not all(map(_is_time, times)):
                    raise BadData(
                        path, f"order {number} has no list {quoted(name)} of times as '07:00'"
                    )
            yield line


def _candidates(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        for line in read_candidates(path):
            probability = line.get("probability")
            if (
                not isinstance(probability, int | float)
                or not 0 <= probability <= 1
                or not isinstance(line.get("mass"), bool)
                or not _is_time(line.get("time"))
            ):
                raise BadData(
                    path,
                    f"{quoted(line['id'])} has no time, probability and mass: give what mt-classify"
                    " writes",
                )
            yield line


def _is_time(value: object) -> bool:
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


def _row(evidence: Evidence) -> dict[str, Any]:
    return {
        "parish": evidence.parish,
        "domain": evidence.domain,
        "day": evidence.day,
        "time": evidence.time,
        "days": evidence.days,
        "weeks": evidence.weeks,
        "season": evidence.season,
        "months": evidence.months,
        "url": evidence.url,
        "sentence": evidence.sentence,
        "source": evidence.source,
        "probability": evidence.probability,
    }


def _work(arguments: argparse.Namespace) -> None:
    from masstimes.table.files import as_csv, as_parquet  # noqa: PLC0415 - pyarrow takes a while

    parishes = read_parishes(arguments.parishes)
    evidence = merge_rows(
        _orders(arguments.orders), _candidates(arguments.candidates), parish_at=parishes.id_at
    )
    table = [_row(each) for each in evidence]
    write_complete(arguments.csv, as_csv(table))
    write_complete(arguments.parquet, as_parquet(table))
    sites = len({(row["parish"], row["domain"]) for row in table})
    print(f"{_PROGRAM}: {len(table)} times of masses at {sites} sites", file=sys.stderr)
    _report_missing(sorted({*parishes.ids} - {row["parish"] for row in table}))


def _report_missing(ids: Sequence[str]) -> None:
    if ids:
        more = f" and {len(ids) - _MAX_NAMES} more" if len(ids) > _MAX_NAMES else ""
        names = ", ".join(map(quoted, ids[:_MAX_NAMES]))
        print(f"{_PROGRAM}: parishes without times: {names}{more}", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-table` and return its exit code."""
    parser = Parser(prog=_PROGRAM, description="Make one table of all mass times.")
    add = parser.add_argument
    many: dict[str, Any] = {"nargs": "*", "type": Path, "default": [], "metavar": "FILE"}
    add("--orders", **many, help="Mass schedules that mt-rules wrote (default: none)")
    add("--candidates", **many, help="Candidates that mt-classify wrote (default: none)")
    add(
        "--parishes",
        **many,
        help="JSON file of one parish with id and site, to find the parish of a page"
        " (default: none)",
    )
    add(
        "--parquet",
        type=Path,
        required=True,
        metavar="FILE",
        help="Parquet file to write the table to",
    )
    add("--csv", type=Path, required=True, metavar="FILE", help="CSV file to write the table to")
    return run_command(parser, _work, argv)
