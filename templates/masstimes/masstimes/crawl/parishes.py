"""The parishes of a crawl."""

import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from masstimes.crawl.addresses import get_domain, is_within, normalise_address
from masstimes.crawl.hosts import assign_folders, get_host, is_below, query_pairs
from sluice.packs.programs import BadData, UsageError, parse_json, read_input
from sluice.text.visible_text import quoted

_ID = re.compile(r"[A-Za-z0-9_][\w.-]{0,99}")


@dataclass(frozen=True, slots=True)
class ParishSite:
    """A parish with its site.

    Attributes:
        id: The name of its files.
        folder: The path that its pages are below, if other parishes share the host.
        others: Folders of other parishes below ``folder``.
        query: The pairs ``key=value`` that the query of its pages has, if other parishes share the
            folder.
        other_queries: Queries of other parishes in ``folder`` that have more pairs than ``query``.
    """

    id: str
    name: str
    site: str
    folder: str = ""
    others: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    other_queries: tuple[tuple[str, ...], ...] = ()

    @property
    def start(self) -> str:
        """Return the address where the crawl begins, or an empty text if ``site`` is none."""
        return normalise_address(self.site) or ""

    @property
    def domain(self) -> str:
        """Return the domain of the site."""
        return get_domain(self.start)

    def owns(self, url: str) -> bool:
        """Return whether an address belongs to the site.

        An address in the folder that several parishes share belongs to those whose ``query`` it
        has.
        """
        if not self.folder:
            return is_within(url, self.domain)
        path, pairs = urlsplit(url).path, query_pairs(url)
        return (
            get_host(url) == get_host(self.start)
            and is_below(path, self.folder)
            and not any(is_below(path, other) for other in self.others)
            and pairs.issuperset(self.query)
            and not any(map(pairs.issuperset, self.other_queries))
        )

    @property
    def is_loopback(self) -> bool:
        """Return whether the site is on this machine, so that no contact is needed."""
        host = urlsplit(self.start).hostname or "localhost"
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")


def read_parishes(paths: Iterable[Path]) -> list[ParishSite]:
    """Return the parishes of files, which have one parish or a list.

    Raises:
        MissingInput: A file cannot be opened.
        BadData: A file has something else.
        UsageError: Two parishes have the same id.
    """
    parishes: dict[str, ParishSite] = {}
    for path in paths:
        for parish in _read_file(path):
            if parish.id in parishes:
                raise UsageError(f"{path}: the id {quoted(parish.id)} appears twice")
            parishes[parish.id] = parish
    return assign_folders(list(parishes.values()))


def _read_file(path: Path) -> Iterator[ParishSite]:
    content = parse_json(path, read_input(path))
    for fields in content if isinstance(content, list) else [content]:
        yield _parse_parish(path, fields)


def _parse_parish(path: Path, fields: Any) -> ParishSite:
    if not isinstance(fields, dict):
        raise BadData(path, "a parish is a JSON object")
    for name in ("id", "name", "site"):
        if not isinstance(fields.get(name), str):
            raise BadData(path, f"a parish has no text {quoted(name)}")
    if _ID.fullmatch(fields["id"]) is None:
        raise BadData(path, f"the id {quoted(fields['id'])} cannot name a file")
    return ParishSite(fields["id"], fields["name"], fields["site"])
