"""`mt-places`: the site of each parish, by a places API with a quota."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pack_command import BadData, Parser, UsageError, read_input, run_command, write_complete

from masstimes.manners import add_manners, manners_of, web_address
from masstimes.pages import write_lines
from masstimes.places.api import Places, site_in
from masstimes.places.cache import Cache
from masstimes.polite import Polite

_PROGRAM = "mt-places"
#: Where there is no file with the key.
KEY_VARIABLE = "PLACES_KEY"


def queries(parish: dict[str, Any]) -> Iterator[str]:
    """What is asked for, one after the other until a site is found, none twice."""
    texts = [str(parish.get(part) or "").strip() for part in ("name", "place", "street")]
    yield from dict.fromkeys(" ".join(filter(None, some)) for some in (texts, texts[:2]))


def _parish(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_input(path))
    except (ValueError, RecursionError) as error:
        raise BadData(path, f"this is no JSON ({error})") from error
    for name in ("id", "name"):
        if not isinstance(found, dict) or not isinstance(found.get(name), str) or not found[name]:
            raise BadData(path, f"a parish has a text {name!r}")
    if found["id"] in {".", ".."} or "/" in found["id"] or "\0" in found["id"]:
        raise BadData(path, f"its id, {found['id']!r}, cannot be the name of a file")
    return dict(found)


def _key(path: Path | None) -> str:
    key = os.environ.get(KEY_VARIABLE, "")
    if path is not None:
        try:
            key = read_input(path).decode()
        except UnicodeDecodeError as error:
            raise BadData(path, "a key is text in UTF-8") from error
    if not key.strip():
        raise UsageError(f"a key is needed: --key-file, or the variable {KEY_VARIABLE}")
    return key.strip()


def _sites(
    places: Places, parishes: Sequence[dict[str, Any]], out: Path, without: list[dict[str, Any]]
) -> None:
    """A file for each with a site, as soon as it is known; the others are added to ``without``."""
    for parish in parishes:
        site = next(filter(None, (site_in(places.find(query)) for query in queries(parish))), None)
        if site is None:
            without.append(parish)
            continue
        text = json.dumps({**parish, "site": site}, ensure_ascii=False, indent=1) + "\n"
        write_complete(out / f"{parish['id']}.json", text.encode(errors="replace"))


def _work(arguments: argparse.Namespace) -> None:
    parishes = [_parish(path) for path in arguments.parishes]
    key = _key(arguments.key_file)
    arguments.out.mkdir(parents=True, exist_ok=True)
    without: list[dict[str, Any]] = []
    with Polite(_PROGRAM, manners_of(arguments)) as polite:
        places = Places(arguments.api, key, polite, Cache(arguments.cache))
        try:
            _sites(places, parishes, arguments.out, without)
        finally:
            write_lines(arguments.without, without)
    found = len(parishes) - len(without)
    print(f"{_PROGRAM}: {found} of {len(parishes)} parishes have a site", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `mt-places`."""
    parser = Parser(prog=_PROGRAM, description="Find the sites of parishes by a places API.")
    add = parser.add_argument
    add("parishes", nargs="+", type=Path, metavar="FILE", help="JSON, one for a parish")
    add("--api", type=web_address, required=True, metavar="URL", help="has /places")
    add("--key-file", type=Path, metavar="FILE", help=f"else the variable {KEY_VARIABLE}")
    add("--cache", type=Path, required=True, metavar="FILE", help="answers, made and added to")
    add("--out", type=Path, required=True, metavar="FOLDER", help="for a file of each with a site")
    add("--without", type=Path, required=True, metavar="FILE", help="those without, JSON Lines")
    add_manners(parser, pause=0.0)
    return run_command(parser, _work, argv)
