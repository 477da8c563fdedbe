"""`mt-check-delays` checks with the log of the small web that a crawler waited between requests."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from masstimes.crawl.pace import Pace
from sluice.packs.programs import BadData, Parser, finite, read_input, run_command

Line = Mapping[str, Any]


def requests_by_host(log: Path, *, agent: str = "") -> dict[str, list[Line]]:
    """Return requests by host, in the order in which they began.

    ``agent`` selects requests by a part of the user agent.
    """
    lines_by_host: dict[str, list[Line]] = {}
    for text in read_input(log).decode().splitlines():
        line = json.loads(text)
        if agent in line["user_agent"]:
            lines_by_host.setdefault(line["host"], []).append(line)
    return {
        host: sorted(lines, key=lambda line: line["start"]) for host, lines in lines_by_host.items()
    }


def find_early_requests(
    requests: Sequence[Line], *, delays: float, pace: Pace | None = None
) -> Iterator[str]:
    """Yield each request to a site that came too early.

    A request is too early during another one, or before its delay is over. ``requests`` are all
    requests to the site, and ``delays`` is the factor of its delays. The crawler saw answers take
    at least as long as the server did, and end no earlier than the log says, and it need not
    lengthen its delay for an answer that it did not read whole. So the computed delays are never
    too long.
    """
    rule = pace or Pace()
    delay = rule.first
    for before, after in pairwise(requests):
        if before["status"]:
            next_delay = rule.next_delay(
                delay, before["answered"] - before["start"], before["status"]
            )
            delay = next_delay if before["whole"] else min(delay, next_delay)
        pause = after["start"] - before["end"]
        if pause < 0:
            yield f"{after['host']}{after['path']}: {-pause:.3f} s before {before['path']} ended"
        elif pause < delay * delays:
            yield f"{after['host']}{after['path']}: after {pause:.6f} s, not {delay * delays:.6f} s"


def _work(arguments: argparse.Namespace) -> None:
    by_host = requests_by_host(arguments.log, agent=arguments.agent)
    early_requests = [
        text
        for requests in by_host.values()
        for text in find_early_requests(requests, delays=arguments.delays)
    ]
    if early_requests:
        raise BadData(
            arguments.log, f"{len(early_requests)} requests came too early; {early_requests[0]}"
        )
    print(sum(map(len, by_host.values())))


def check_delays_main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-check-delays`, print the number of requests, and return its exit code.

    The code is 65 if a request was too early.
    """
    parser = Parser(
        prog="mt-check-delays",
        description="Check with the log of mt-web that a crawler waited between requests, and print"
        " the number of requests.",
    )
    parser.add_argument("log", type=Path, metavar="FILE", help="The log requests.jsonl of mt-web")
    parser.add_argument(
        "--agent",
        default="",
        metavar="TEXT",
        help="Check only requests whose user agent contains this text (default: all requests)",
    )
    parser.add_argument(
        "--delays",
        type=finite,
        default=1.0,
        metavar="FACTOR",
        help="Factor of all delays that was given to mt-crawl as --delays (default: 1)",
    )
    return run_command(parser, _work, argv)
