"""Parishes that share a host: their common queue, and the folder and query of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from masstimes.crawl.parishes import ParishSite


def get_host(url: str) -> str:
    """Return the host and port without ``www.``."""
    return urlsplit(url).netloc.removeprefix("www.")


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or below it."""
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def query_pairs(url: str) -> frozenset[str]:
    """Return the pairs ``key=value`` of the query of an address."""
    return frozenset(pair for pair in urlsplit(url).query.split("&") if pair)


def group_by_host(parishes: Iterable[ParishSite]) -> list[list[ParishSite]]:
    """Return groups of parishes whose sites have to be crawled one after another.

    A domain and its subdomains are one group, because the site of the domain includes them.
    """
    listed = list(parishes)
    domains = {parish.domain for parish in listed if parish.domain}
    groups: dict[str, list[ParishSite]] = {}
    for parish in listed:
        name = _find_widest_domain(parish.domain, domains) if parish.domain else f"/{parish.id}"
        groups.setdefault(name, []).append(parish)
    return list(groups.values())


def _find_widest_domain(domain: str, domains: set[str]) -> str:
    """Return the shortest of the domains that includes a domain."""
    labels = domain.split(".")
    suffixes = (".".join(labels[first:]) for first in reversed(range(len(labels))))
    return next(suffix for suffix in suffixes if suffix in domains)


def assign_folders(parishes: Sequence[ParishSite]) -> list[ParishSite]:
    """Return the parishes, with a folder for each that shares its host with another one.

    Parishes whose addresses differ only in the query get the same folder, and each owns only the
    addresses whose query has its own pairs ``key=value``. Pairs that all these parishes have do not
    count. A parish without own pairs owns what is left.
    """
    hosts: dict[str, list[ParishSite]] = {}
    for parish in parishes:
        hosts.setdefault(get_host(parish.start), []).append(parish)
    own: dict[str, ParishSite] = {}
    for host, sharing in hosts.items():
        if host and len(sharing) > 1:
            own |= {parish.id: parish for parish in _separate(sharing)}
    return [own.get(parish.id, parish) for parish in parishes]


def _separate(sharing_sites: Sequence[ParishSite]) -> list[ParishSite]:
    folders = _find_folders([urlsplit(parish.start).path for parish in sharing_sites])
    by_folder: dict[str, list[ParishSite]] = {}
    for parish, folder in zip(sharing_sites, folders, strict=True):
        by_folder.setdefault(folder, []).append(parish)
    separated = []
    for folder, parishes in by_folder.items():
        below = tuple(
            sorted(each for each in by_folder if each != folder and is_below(each, folder))
        )
        assigned = _assign_queries(parishes)
        if folder != "/" or below or assigned != parishes:
            assigned = [replace(parish, folder=folder, others=below) for parish in assigned]
        separated += assigned
    return separated


def _assign_queries(parishes: Sequence[ParishSite]) -> list[ParishSite]:
    """Return the parishes of one folder, each with the pairs of its query that not all have."""
    pairs = [query_pairs(parish.start) for parish in parishes]
    common = frozenset.intersection(*pairs)
    queries = [each - common for each in pairs]
    return [
        replace(
            parish,
            query=tuple(sorted(own)),
            other_queries=tuple(sorted({tuple(sorted(each)) for each in queries if each > own})),
        )
        for parish, own in zip(parishes, queries, strict=True)
    ]


def _find_folders(paths: Sequence[str]) -> list[str]:
    """Return the folder of each start path.

    A path is its own folder if others begin in the same one (``/parishes/anna``,
    ``/parishes/jan``), or if it is a folder of the root without a slash (``/~anna``).
    """
    users = Counter(map(_folder, set(paths)))
    return [path if _is_folder(path, users) else _folder(path) for path in paths]


def _is_folder(path: str, users: Counter[str]) -> bool:
    return users[_folder(path)] > 1 or (_folder(path) == "/" and "." not in path)


def _folder(path: str) -> str:
    return path[: path.rfind("/") + 1]
