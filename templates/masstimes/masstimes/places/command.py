"""`mt-places` finds the site of each parish with a places API that has a quota."""

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from masstimes.pages import write_lines
from masstimes.places.budget import Budget
from masstimes.places.cache import Cache
from masstimes.places.finder import PROVIDERS, Finder
from masstimes.places.provider import Access, RequestKind
from masstimes.polite import PoliteClient
from masstimes.request_policy import add_request_options, parse_request_policy, web_address
from sluice.packs.programs import (
    BadData,
    Parser,
    UsageError,
    not_negative,
    parse_json,
    positive,
    read_input,
    run_command,
    write_complete,
)
from sluice.text.visible_text import quoted

_PROGRAM = "mt-places"
#: The name of the limit over all nodes, of which sites.cwl reserves a part.
LIMIT = "places"
#: The variable with the key, for runs without a key file.
KEY_VARIABLE = "PLACES_KEY"


def make_queries(parish: dict[str, Any]) -> Iterator[str]:
    """Yield the texts to search for until a site is found, each once."""
    texts = [str(parish.get(part) or "").strip() for part in ("name", "place", "street")]
    yield from dict.fromkeys(" ".join(filter(None, parts)) for parts in (texts, texts[:2]))


def _read_parish(path: Path) -> dict[str, Any]:
    parish = parse_json(path, read_input(path))
    for name in ("id", "name"):
        if (
            not isinstance(parish, dict)
            or not isinstance(parish.get(name), str)
            or not parish[name]
        ):
            raise BadData(path, f"a parish has a text {quoted(name)}")
    if parish["id"] in {".", ".."} or "/" in parish["id"] or "\0" in parish["id"]:
        raise BadData(path, f"its id, {quoted(parish['id'])}, cannot be the name of a file")
    return dict(parish)


def _read_key(path: Path | None) -> str:
    key = os.environ.get(KEY_VARIABLE, "")
    if path is not None:
        try:
            key = read_input(path).decode()
        except UnicodeDecodeError as error:
            raise BadData(path, "a key is text in UTF-8") from error
    if not key.strip():
        raise UsageError(f"a key is needed: --key-file, or the variable {KEY_VARIABLE}")
    return key.strip()


def _find_sites(
    finder: Finder, parishes: Sequence[dict[str, Any]], out: Path, without: list[dict[str, Any]]
) -> None:
    """Write a file for each parish with a site, as soon as it is found.

    Parishes without a site are added to ``without``.
    """
    for parish in parishes:
        site = next(filter(None, map(finder.find_site, make_queries(parish))), None)
        if site is None:
            without.append(parish)
            continue
        text = json.dumps({**parish, "site": site}, ensure_ascii=False, indent=1) + "\n"
        write_complete(out / f"{parish['id']}.json", text.encode(errors="replace"))


def _make_budget(arguments: argparse.Namespace) -> Budget:
    limits = {RequestKind.SEARCH: arguments.max_search, RequestKind.DETAIL: arguments.max_detail}
    return Budget({kind: limit for kind, limit in limits.items() if limit is not None})


def _work(arguments: argparse.Namespace) -> None:
    parishes = [_read_parish(path) for path in arguments.parishes]
    kind = PROVIDERS[arguments.provider]
    access = Access(
        arguments.api or kind.DEFAULT_URL,
        _read_key(arguments.key_file) if kind.NEEDS_KEY else "",
        arguments.language,
        arguments.region,
    )
    arguments.out.mkdir(parents=True, exist_ok=True)
    policy, budget = parse_request_policy(arguments), _make_budget(arguments)
    policy = dataclasses.replace(policy, pause=max(policy.pause, kind.PAUSE))
    without: list[dict[str, Any]] = []
    with PoliteClient(_PROGRAM, policy) as polite:
        finder = Finder(
            arguments.provider,
            kind(access, polite),
            Cache(arguments.cache),
            budget,
            arguments.max_pages,
            arguments.max_details,
        )
        try:
            _find_sites(finder, parishes, arguments.out, without)
        finally:
            write_lines(arguments.without, without)
            if arguments.requests:
                write_complete(arguments.requests, json.dumps(budget.counts()).encode())
            if arguments.spent:
                write_complete(arguments.spent, json.dumps({LIMIT: budget.units()}).encode())
    site_count = len(parishes) - len(without)
    counts = ", ".join(f"{number} {kind}" for kind, number in budget.counts().items())
    print(
        f"{_PROGRAM}: {site_count} of {len(parishes)} parishes have a site; requests sent:"
        f" {counts}",
        file=sys.stderr,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run `mt-places` and return its exit code."""
    parser = Parser(prog=_PROGRAM, description="Find the sites of parishes with a places API.")
    add = parser.add_argument
    add(
        "parishes",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="JSON file of one parish, as mt-parishes writes it with --split",
    )
    _add_provider_options(add)
    add(
        "--cache",
        type=Path,
        required=True,
        metavar="FILE",
        help="File with all answers of the API so far, to which new answers are appended; created"
        " if it does not exist",
    )
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="Folder to write a JSON file for each parish with a site to",
    )
    add(
        "--without",
        type=Path,
        required=True,
        metavar="FILE",
        help="JSON Lines file to write the parishes without a site to",
    )
    _add_request_limits(add)
    add(
        "--requests",
        type=Path,
        metavar="FILE",
        help="JSON file to write the number of sent requests of each kind to"
        " (default: do not write it)",
    )
    add(
        "--spent",
        type=Path,
        metavar="FILE",
        help=f"JSON file to write the spent units of the limit {quoted(LIMIT)} to"
        " (default: do not write it)",
    )
    add_request_options(parser, pause=0.0)
    return run_command(parser, _work, argv)


def _add_provider_options(add: Any) -> None:
    add(
        "--provider",
        choices=sorted(PROVIDERS),
        default="google",
        help="Places API to use (default: %(default)s)",
    )
    add(
        "--api",
        type=web_address,
        metavar="URL",
        help="Address of a server with the same protocol (default: the provider's public service)",
    )
    add(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="File with the API key; not needed for nominatim (default: the key is in the"
        f" environment variable {KEY_VARIABLE})",
    )
    add("--language", default="pl", help="Language of the answers (default: %(default)s)")
    add(
        "--region",
        default="pl",
        metavar="COUNTRY",
        help="Code of the country whose places are preferred (default: %(default)s)",
    )


def _add_request_limits(add: Any) -> None:
    add(
        "--max-pages",
        type=positive,
        default=1,
        metavar="N",
        help="Read at most N pages of hits for a text search (default: %(default)s)",
    )
    add(
        "--max-details",
        type=positive,
        default=5,
        metavar="N",
        help="Request the details of at most N hits of a text search (default: %(default)s)",
    )
    add(
        "--max-search",
        type=not_negative,
        metavar="N",
        help="Send at most N text searches in this run (default: no limit)",
    )
    add(
        "--max-detail",
        type=not_negative,
        metavar="N",
        help="Send at most N requests for details in this run (default: no limit)",
    )
