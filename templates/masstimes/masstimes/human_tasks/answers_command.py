"""`mt-answers` converts annotations into candidates with answers, for `mt-train`."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from masstimes.human_tasks.items_command import COPIED_FIELDS
from masstimes.pages import Line, write_lines
from sluice.packs.programs import BadData, Parser, read_input, run_command

_PROGRAM = "mt-answers"
#: The answers to learn from. Others, such as "cannot say", are left out.
_LABELS = ("yes", "no")


def read_labelled(paths: Iterable[Path]) -> Iterator[Line]:
    """Yield the candidates that have an answer, yes or no.

    Raises:
        MissingInput: A file cannot be opened.
        BadData: A file is no answer to an item of `mt-items`.
    """
    for path in paths:
        try:
            annotation = json.loads(read_input(path))
            answer, item = annotation["answer"], annotation["item"]
            line = {name: item[name] for name in COPIED_FIELDS}
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise BadData(
                path,
                "this is not an answer to an item of mt-items: JSON with an answer and the item",
            ) from error
        if answer in _LABELS:
            yield {**line, "answer": answer}


def _work(arguments: argparse.Namespace) -> None:
    number = write_lines(arguments.out, read_labelled(arguments.answers))
    skipped = len(arguments.answers) - number
    print(f"{_PROGRAM}: {number} answers; {skipped} are neither yes nor no", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-answers` and return its exit code."""
    parser = Parser(
        prog=_PROGRAM,
        description="Convert the annotations of a human task into candidates with answers.",
    )
    add: Any = parser.add_argument
    add(
        "answers",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="Annotations of items of mt-items, one JSON file each",
    )
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="JSON Lines file to write the candidates with answers to, for mt-train",
    )
    return run_command(parser, _work, argv)
