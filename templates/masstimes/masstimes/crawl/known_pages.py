"""Pages known from the run before, so that only changed pages are taken again."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from masstimes.crawl.journal import Entry
from masstimes.crawl.visits import Outcome
from sluice.packs.programs import (
    BadData,
    MissingInput,
    parse_json,
    read_input,
    reason_in,
    write_complete,
)

_ENDING = ".known.json"


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A known page. ``links`` are followed if the page has not changed."""

    sha256: str
    etag: str = ""
    modified: str = ""
    links: tuple[tuple[str, str], ...] = ()

    @property
    def conditions(self) -> dict[str, str]:
        """Return the headers of a conditional request."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in headers.items() if value}


def find_known_files(places: Iterable[Path]) -> dict[str, Path]:
    """Return the files with known pages by the id of the parish.

    ``places`` are folders that an earlier run wrote, or files of them.

    Raises:
        MissingInput: A place does not exist.
    """
    files: dict[str, Path] = {}
    for place in places:
        if not place.exists():
            raise MissingInput(place, "no such file or folder")
        for path in place.glob(f"*{_ENDING}") if place.is_dir() else [place]:
            files[path.name.removesuffix(_ENDING)] = path
    return files


def read_known_pages(path: Path | None) -> dict[str, KnownPage]:
    """Return known pages by address, none without a file.

    Raises:
        BadData: The file is not one that an earlier run wrote.
    """
    if path is None:
        return {}
    try:
        content = parse_json(path, read_input(path))
        return {url: _parse_page(page) for url, page in content["pages"].items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadData(path, f"is not what an earlier run wrote ({reason_in(error)})") from error


def _parse_page(fields: dict[str, Any]) -> KnownPage:
    return KnownPage(**{**fields, "links": tuple((url, text) for url, text in fields["links"])})


def write_known_pages(
    folder: Path, parish: str, previous: Mapping[str, KnownPage], entries: Iterator[Entry]
) -> None:
    """Write the pages known after this run, which had these ``entries``.

    A page that failed, but may come back, stays as it was.
    """
    pages: dict[str, KnownPage] = {}
    for entry in entries:
        answer = entry.answer
        if answer.outcome in {Outcome.PAGE, Outcome.UNCHANGED}:
            pages[entry.url] = KnownPage(answer.sha256, answer.etag, answer.modified, answer.links)
        elif (old := previous.get(entry.url)) is not None and _may_come_back(entry):
            pages[entry.url] = old
    content = {"pages": {url: asdict(page) for url, page in pages.items()}}
    encoded = json.dumps(content, ensure_ascii=False).encode(errors="replace")
    write_complete(folder / f"{parish}{_ENDING}", encoded)


def _may_come_back(entry: Entry) -> bool:
    return entry.answer.outcome is Outcome.ERROR and entry.answer.reason not in {"404", "410"}
