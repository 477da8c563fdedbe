"""`mt-parishes` makes a table of parishes from pages of dioceses."""

import argparse
import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from masstimes.parishes.columns import COLUMNS
from masstimes.parishes.identity import assign_ids
from masstimes.parishes.walk import read_diocese
from masstimes.polite import PoliteClient
from masstimes.request_policy import (
    add_request_options,
    is_web_address,
    parse_request_policy,
    web_address,
)
from sluice.packs.programs import (
    BadData,
    CommandError,
    Parser,
    UsageError,
    positive,
    read_input,
    run_command,
    write_complete,
)
from sluice.text.visible_text import quoted

_PROGRAM = "mt-parishes"


class NoParishes(CommandError):
    """The pages have no parishes."""

    exit_code = 65


def _tell(what: str) -> None:
    print(f"{_PROGRAM}: {what}", file=sys.stderr)


def _read_addresses(path: Path) -> list[str]:
    """Return the addresses in a file, one a line, without comments after #."""
    try:
        lines = read_input(path).decode().splitlines()
    except UnicodeDecodeError as error:
        raise BadData(path, "this is not valid UTF-8") from error
    addresses = []
    for number, line in enumerate(map(str.strip, lines), 1):
        if line and not line.startswith("#"):
            if not is_web_address(line):
                raise BadData(path, f"{quoted(line)} is not an address (http://…)", line=number)
            addresses.append(line)
    return addresses


def _make_table(parishes: Sequence[dict[str, str]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(parishes)
    return text.getvalue().encode(errors="replace")


def _work(arguments: argparse.Namespace) -> None:
    address_file: Path | None = arguments.addresses
    urls = [*arguments.urls, *(_read_addresses(address_file) if address_file else ())]
    if not urls:
        raise UsageError("give addresses of pages, or a file of them (--addresses)")
    with PoliteClient(_PROGRAM, parse_request_policy(arguments)) as polite:
        listed = [
            parish
            for url in dict.fromkeys(urls)
            for parish in read_diocese(polite, url, max_pages=arguments.max_pages, tell=_tell)
        ]
    parishes, duplicates = assign_ids(listed)
    if not parishes:
        raise NoParishes(f"no parish is on the pages of {', '.join(urls)}")
    if duplicates:
        _tell(f"{duplicates} rows came again, equal to others, and were left out")
    if arguments.split:
        arguments.split.mkdir(parents=True, exist_ok=True)
        for parish in parishes:
            text = json.dumps(parish, ensure_ascii=False, indent=1) + "\n"
            write_complete(arguments.split / f"{parish['id']}.json", text.encode(errors="replace"))
    write_complete(arguments.out, _make_table(parishes))
    _tell(f"{len(parishes)} parishes")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-parishes` and return its exit code."""
    parser = Parser(
        prog=_PROGRAM, description="Make a table of parishes from the pages of dioceses."
    )
    add = parser.add_argument
    add("urls", nargs="*", type=web_address, metavar="URL", help="First page of a diocese's list")
    add(
        "--addresses",
        type=Path,
        metavar="FILE",
        help="Text file with more first pages, one address per line (default: none)",
    )
    add("--out", type=Path, required=True, metavar="FILE", help="CSV file to write the table to")
    add(
        "--split",
        type=Path,
        metavar="FOLDER",
        help="Also write one JSON file for each parish to this folder (default: do not)",
    )
    add(
        "--max-pages",
        type=positive,
        default=500,
        metavar="N",
        help="Follow the list of a diocese over at most N pages (default: %(default)s)",
    )
    add_request_options(parser, pause=1.0)
    return run_command(parser, _work, argv)
