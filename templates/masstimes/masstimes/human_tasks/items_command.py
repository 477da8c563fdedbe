"""`mt-items` writes candidates as the items of a human task."""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

from masstimes.classifier.examples import read_candidates
from sluice.packs.programs import Parser, not_negative, positive, run_command, write_complete

_PROGRAM = "mt-items"
#: The number of files without a candidate that the message names.
_MAX_NAMES = 5
#: The fields of a candidate that come back with its annotations.
COPIED_FIELDS = ("id", "domain", "url", "hour", "time", "context", "start", "end")


def make_item(line: dict[str, Any]) -> dict[str, Any]:
    """Return an item as the page shows it: ``text`` with a ``mark``, under a ``title``."""
    return {
        "text": line["context"],
        "mark": [line["start"], line["end"]],
        "title": line["domain"],
        **{name: line[name] for name in COPIED_FIELDS},
    }


def draw_sample(
    candidates: Iterable[dict[str, Any]], limit: int | None, *, seed: int
) -> list[dict[str, Any]]:
    """Return at most ``limit`` candidates, each once, one of each site in turn.

    No site can thus fill the whole sample.
    """
    by_site: dict[str, dict[str, dict[str, Any]]] = {}
    for line in candidates:
        by_site.setdefault(line["domain"], {})[line["id"]] = line
    random = Random(seed)  # noqa: S311 - no secret
    decks = [_shuffle(by_site[domain], random) for domain in sorted(by_site)]
    random.shuffle(decks)
    in_turn = [
        deck[place]
        for place in range(max(map(len, decks), default=0))
        for deck in decks
        if place < len(deck)
    ]
    return in_turn[:limit]


def _shuffle(lines: dict[str, dict[str, Any]], random: Random) -> list[dict[str, Any]]:
    deck = [lines[name] for name in sorted(lines)]
    random.shuffle(deck)
    return deck


def file_name(candidate: str) -> str:
    """Return the file name of a candidate, which is always the same.

    Names are hashes, so that candidates of a site are spread over the order of names.
    """
    return f"item-{hashlib.sha256(candidate.encode(errors='replace')).hexdigest()[:20]}.json"


def _work(arguments: argparse.Namespace) -> None:
    candidates_by_file = {path: list(read_candidates(path)) for path in arguments.candidates}
    chosen = draw_sample(
        chain.from_iterable(candidates_by_file.values()), arguments.limit, seed=arguments.seed
    )
    arguments.out.mkdir(parents=True, exist_ok=True)
    for line in chosen:
        content = json.dumps(make_item(line), ensure_ascii=False).encode(errors="replace")
        write_complete(arguments.out / file_name(line["id"]), content)
    sites = len({line["domain"] for line in chosen})
    print(f"{_PROGRAM}: {len(chosen)} items of {sites} sites", file=sys.stderr)
    if without := [path.name for path, lines in candidates_by_file.items() if not lines]:
        rest = f" and {len(without) - _MAX_NAMES} more" if len(without) > _MAX_NAMES else ""
        names = ", ".join(without[:_MAX_NAMES])
        print(
            f"{_PROGRAM}: {len(without)} of {len(candidates_by_file)} files have no candidate:"
            f" {names}{rest}",
            file=sys.stderr,
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-items` and return its exit code."""
    parser = Parser(
        prog=_PROGRAM, description="Write each candidate as a file with an item of a human task."
    )
    add: Any = parser.add_argument
    add(
        "candidates",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="Candidates in JSON Lines that mt-hours wrote",
    )
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="Folder to write one JSON file for each item to",
    )
    add(
        "--limit",
        type=positive,
        metavar="N",
        help="Write a random sample of at most N items (default: all candidates)",
    )
    add(
        "--seed",
        type=not_negative,
        default=1,
        help="Seed of the random sample (default: %(default)s)",
    )
    return run_command(parser, _work, argv)
