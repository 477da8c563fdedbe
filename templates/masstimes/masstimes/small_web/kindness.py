"""`mt-kindness`: whether a crawler was kind to the sites of the small web, by the server's own
log.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from pack_command import BadData, Parser, finite, read_input, run_command

from masstimes.crawl.pace import Pace

Line = Mapping[str, Any]


def requests_by_host(log: Path, *, agent: str = "") -> dict[str, list[Line]]:
    """In the order in which they began. ``agent``: part of the user agent."""
    found: dict[str, list[Line]] = {}
    for text in read_input(log).decode().splitlines():
        line = json.loads(text)
        if agent in line["user_agent"]:
            found.setdefault(line["host"], []).append(line)
    return {host: sorted(lines, key=lambda line: line["start"]) for host, lines in found.items()}


def unkind(requests: Sequence[Line], *, delays: float, pace: Pace | None = None) -> Iterator[str]:
    """What was done wrong to one site, of which these are all requests: a second one while one was
    under way, or before its delay was over. ``delays``: the factor. How long the crawler saw an
    answer take is at least what the server took, so that no delay is taken for longer than it
    was.
    """
    rule = pace or Pace()
    delay = rule.first
    for before, after in pairwise(requests):
        if before["status"]:
            delay = rule.next_delay(delay, before["answered"] - before["start"], before["status"])
        pause = after["start"] - before["end"]
        if pause < 0:
            yield f"{after['host']}{after['path']}: {-pause:.3f} s before {before['path']} ended"
        elif before["whole"] and pause < delay * delays:
            yield f"{after['host']}{after['path']}: after {pause:.6f} s, not {delay * delays:.6f} s"


def _work(arguments: argparse.Namespace) -> None:
    by_host = requests_by_host(arguments.log, agent=arguments.agent)
    wrong = [
        text for requests in by_host.values() for text in unkind(requests, delays=arguments.delays)
    ]
    if wrong:
        raise BadData(arguments.log, f"{len(wrong)} requests came too early; {wrong[0]}")
    print(sum(map(len, by_host.values())))


def kindness_main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `mt-kindness`: how many requests there were; 65 where one was too early."""
    parser = Parser(prog="mt-kindness", description="Check the log of mt-web.")
    parser.add_argument("log", type=Path, metavar="FILE", help="requests.jsonl")
    parser.add_argument("--agent", default="", help="of these requests: part of the user agent")
    parser.add_argument("--delays", type=finite, default=1.0, help="the factor of mt-crawl")
    return run_command(parser, _work, argv)
