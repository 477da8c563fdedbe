"""`mt-crawl` crawls the sites of many parishes at the same time, politely, one spider for each."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from masstimes.crawl.hosts import group_by_host
from masstimes.crawl.journal import Journal
from masstimes.crawl.known_pages import KnownPage, find_known_files, read_known_pages
from masstimes.crawl.limits import Limits
from masstimes.crawl.parishes import ParishSite, read_parishes
from masstimes.crawl.site import SiteCrawl, write_results
from masstimes.request_policy import is_contact
from sluice.packs.programs import (
    CommandError,
    Parser,
    UsageError,
    finite,
    not_negative,
    positive,
    run_command,
    write_complete,
)

_PROGRAM = "mt-crawl"
_DEFAULT = Limits()
#: The number of parishes without an address that the message names.
_MAX_NAMES = 5


class CrawlInterrupted(CommandError):
    """A signal has ended the program. With ``--state``, the next start resumes."""

    exit_code = 75


class _CrawlRun:
    """The parishes of one call."""

    def __init__(self, arguments: argparse.Namespace, parishes: Sequence[ParishSite]) -> None:
        self._out: Path = arguments.out
        self._known_files = find_known_files(arguments.known)
        self._known_folder: Path | None = arguments.known_out
        self._state: Path | None = arguments.state
        self.limits = Limits(
            depth=arguments.depth,
            pages=arguments.max_pages,
            page=arguments.max_bytes,
            timeout=arguments.timeout,
            seconds=arguments.max_seconds,
        )
        self._parishes = parishes
        self._journals: dict[str, Journal] = {}
        self._known_pages: dict[str, dict[str, KnownPage]] = {}

    def list_pending(self) -> list[list[partial[SiteCrawl]]]:
        """Write the results of crawls that ended earlier, and return the others, by host."""
        pending = [parish for parish in self._parishes if not self._is_over(parish)]
        return [
            [partial(self._start_crawl, parish) for parish in group]
            for group in group_by_host(pending)
        ]

    def _journal(self, parish: ParishSite) -> Journal:
        folder, name = (self._state, "") if self._state else (self._out, ".")
        path = folder / f"{name}{parish.id}.journal"
        if self._state is None:
            path.unlink(missing_ok=True)
        return Journal(path, {**asdict(parish), "limits": asdict(self.limits)})

    def _is_over(self, parish: ParishSite) -> bool:
        if self._state is None:
            return False
        journal = self._journal(parish)
        if journal.get_summary() is None:
            return False
        self._write(parish.id, journal, read_known_pages(self._known_files.get(parish.id)))
        return True

    def _start_crawl(self, parish: ParishSite) -> SiteCrawl:
        known_pages = read_known_pages(self._known_files.get(parish.id))
        journal = self._journals[parish.id] = self._journal(parish)
        self._known_pages[parish.id] = known_pages
        return SiteCrawl(parish, limits=self.limits, known_pages=known_pages, journal=journal)

    def finish(self, crawl: SiteCrawl) -> None:
        """Write the results of a crawl that has ended."""
        parish = crawl.parish.id
        journal = self._journals.pop(parish)
        self._write(parish, journal, self._known_pages.pop(parish))
        if self._state is None:
            journal.remove()

    def _write(self, parish: str, journal: Journal, known_pages: dict[str, KnownPage]) -> None:
        summary = write_results(
            parish, journal, self._out, known_pages=known_pages, known_folder=self._known_folder
        )
        write_complete(
            self._out / f"{parish}.summary.json",
            f"{json.dumps(summary, ensure_ascii=False)}\n".encode(),
        )

    async def flush_periodically(self, every: float) -> None:
        """Flush the journals of all running crawls at an interval in seconds."""
        while True:
            await asyncio.sleep(every)
            self.flush()

    def flush(self) -> None:
        """Flush the journals of all running crawls."""
        for journal in self._journals.values():
            journal.flush()


def _work(arguments: argparse.Namespace) -> None:
    parishes = read_parishes(arguments.parishes)
    _check(arguments, parishes)
    _report_missing_addresses(parishes)
    crawl_run = _CrawlRun(arguments, parishes)
    pending = crawl_run.list_pending()
    if not pending:
        return
    from masstimes.crawl import running  # noqa: PLC0415 - a second of imports

    settings = running.make_settings(
        crawl_run.limits, _user_agent(arguments.contact), delays=arguments.delays
    )

    async def main() -> None:
        flush_task = asyncio.create_task(crawl_run.flush_periodically(arguments.state_every))
        try:
            await running.crawl_all(
                pending, crawl_run.finish, at_once=arguments.at_once, settings=settings
            )
        finally:
            flush_task.cancel()

    try:
        if not running.run(main):
            raise CrawlInterrupted("ended by a signal; with --state the next start continues it")
    finally:
        if arguments.state is not None:
            crawl_run.flush()


def _check(arguments: argparse.Namespace, parishes: Sequence[ParishSite]) -> None:
    """Check the arguments, and create the folders.

    Raises:
        UsageError: The contact is missing, or a number is out of range.
    """
    remote = [each for each in parishes if not each.is_loopback]
    if remote and not is_contact(arguments.contact):
        raise UsageError(
            f"{remote[0].site} is not on this machine: tell its owner by --contact who asks, as an"
            " address of mail or of a page"
        )
    if arguments.delays < 0 or arguments.state_every <= 0 or arguments.timeout <= 0:
        raise UsageError("delays are 0 or more; times are above 0")
    for folder in (arguments.out, arguments.known_out, arguments.state):
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)


def _report_missing_addresses(parishes: Sequence[ParishSite]) -> None:
    without = [parish.id for parish in parishes if not parish.start]
    if without:
        rest = f" and {len(without) - _MAX_NAMES} more" if len(without) > _MAX_NAMES else ""
        print(
            f"{_PROGRAM}: {len(without)} of {len(parishes)} parishes have no address to begin at"
            f" ({', '.join(without[:_MAX_NAMES])}{rest}); a site is one where it begins with"
            " http:// or https://",
            file=sys.stderr,
        )


def _user_agent(contact: str) -> str:
    return f"sluice-masstimes/1 (+{contact or 'a trial on this machine'})"


def _parser() -> Parser:
    parser = Parser(prog=_PROGRAM, description="Crawl the sites of parishes politely.")
    add: Any = parser.add_argument
    add(
        "parishes",
        nargs="+",
        type=Path,
        metavar="FILE",
        help='JSON file with one parish or a list of parishes, each as {"id", "name", "site"}',
    )
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="Output folder for ID.jsonl (the pages) and ID.summary.json of each parish",
    )
    add(
        "--contact",
        default="",
        metavar="ADDRESS",
        help="Mail address or web page of the person who runs the crawl, for the user agent;"
        " required for sites that are not on this machine",
    )
    add(
        "--at-once",
        type=positive,
        default=100,
        metavar="HOSTS",
        help="Number of hosts to crawl at the same time (default: %(default)s)",
    )
    add(
        "--delays",
        type=finite,
        default=1.0,
        metavar="FACTOR",
        help="Multiply all delays between requests by this factor, for tests (default: 1)",
    )
    add(
        "--depth",
        type=not_negative,
        default=_DEFAULT.depth,
        metavar="LINKS",
        help="Maximum number of links from the start page to a page (default: %(default)s)",
    )
    _add_site_limits(add)
    _add_state_options(add)
    return parser


def _add_state_options(add: Any) -> None:
    """Add the options of known pages and of checkpoints."""
    add(
        "--known",
        type=Path,
        nargs="*",
        default=[],
        metavar="PATH",
        help="Folder that was the --known-out of an earlier run, or files in it; pages that have"
        " not changed since are not written again (default: none)",
    )
    add(
        "--known-out",
        type=Path,
        metavar="FOLDER",
        help="Folder to write the known pages to, for --known of the next run"
        " (default: do not write them)",
    )
    add(
        "--state",
        type=Path,
        metavar="FOLDER",
        help="Folder for checkpoints, from which an interrupted crawl resumes"
        " (default: no checkpoints)",
    )
    add(
        "--state-every",
        type=finite,
        default=10.0,
        metavar="SECONDS",
        help="Seconds between two checkpoints (default: %(default)g)",
    )


def _add_site_limits(add: Any) -> None:
    add(
        "--max-pages",
        type=positive,
        default=_DEFAULT.pages,
        metavar="N",
        help="Maximum number of pages to request from a site (default: %(default)s)",
    )
    add(
        "--max-bytes",
        type=positive,
        default=_DEFAULT.page,
        metavar="BYTES",
        help="Maximum size of a page in bytes, before and after decompression"
        " (default: %(default)s)",
    )
    add(
        "--max-seconds",
        type=finite,
        default=_DEFAULT.seconds,
        metavar="SECONDS",
        help="Maximum duration of the crawl of a site in seconds (default: %(default)g, one day)",
    )
    add(
        "--timeout",
        type=finite,
        default=_DEFAULT.timeout,
        metavar="SECONDS",
        help="Maximum duration of an answer in seconds (default: %(default)g)",
    )


def crawl_main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-crawl` and return its exit code."""
    return run_command(_parser(), _work, argv)
