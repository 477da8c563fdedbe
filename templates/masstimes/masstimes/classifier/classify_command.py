"""`mt-classify` computes the probability that candidates are mass times."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from masstimes.classifier.examples import read_candidates
from masstimes.classifier.torch_needed import require_torch
from masstimes.pages import Line, write_lines
from sluice.packs.programs import Parser, run_command
from sluice.warm import once, serve

if TYPE_CHECKING:
    from masstimes.classifier.network import Network

#: The number of lines in memory at a time.
_AT_ONCE = 512


@once
def _load_network(path: Path) -> Network:
    require_torch()
    import torch  # noqa: PLC0415 - takes seconds; needed once

    from masstimes.classifier.network import load  # noqa: PLC0415

    torch.set_num_threads(1)
    return load(path)


def classify(network: Network, candidates: Iterator[Line]) -> Iterator[Line]:
    """Yield each candidate with its ``probability``, and whether it is a ``mass``."""
    while batch := list(islice(candidates, _AT_ONCE)):
        contexts = ((line["context"], line["start"], line["end"]) for line in batch)
        for line, probability in zip(batch, network.probabilities(contexts), strict=True):
            yield {**line, "probability": probability, "mass": probability >= network.threshold}


def _work(arguments: argparse.Namespace) -> None:
    network = _load_network(arguments.model)
    write_lines(arguments.out, classify(network, read_candidates(arguments.candidates)))


def main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-classify` on one file of candidates, and return its exit code."""
    parser = Parser(
        prog="mt-classify",
        description="Compute the probability that each candidate is the time of a mass.",
    )
    add = parser.add_argument
    add(
        "candidates",
        type=Path,
        metavar="FILE",
        help="Candidates in JSON Lines that mt-hours wrote",
    )
    add("--model", type=Path, required=True, metavar="FILE", help="Model that mt-train wrote")
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="JSON Lines file to write the candidates with their probabilities to",
    )
    return run_command(parser, _work, argv)


def command() -> None:
    """Run `mt-classify` once, or as a warm worker."""
    serve(main)
