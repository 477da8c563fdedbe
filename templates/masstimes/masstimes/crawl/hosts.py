"""Parishes that share a host: their common queue, and the folder of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from masstimes.crawl.parishes import ParishSite


def host_of(url: str) -> str:
    """Return the host and port without ``www.``."""
    return urlsplit(url).netloc.removeprefix("www.")


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or below it."""
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def groups_by_host(parishes: Iterable[ParishSite]) -> list[list[ParishSite]]:
    """Return groups of parishes whose sites have to be crawled one after another.

    A domain and its subdomains are one group, because the site of the domain includes them.
    """
    listed = list(parishes)
    domains = {parish.domain for parish in listed if parish.domain}
    groups: dict[str, list[ParishSite]] = {}
    for parish in listed:
        name = _widest(parish.domain, domains) if parish.domain else f"/{parish.id}"
        groups.setdefault(name, []).append(parish)
    return list(groups.values())


def _widest(domain: str, domains: set[str]) -> str:
    """Return the shortest of the domains that includes a domain."""
    labels = domain.split(".")
    suffixes = (".".join(labels[first:]) for first in reversed(range(len(labels))))
    return next(suffix for suffix in suffixes if suffix in domains)


def with_own_folders(parishes: Sequence[ParishSite]) -> list[ParishSite]:
    """Return the parishes, with a folder for each that shares its host with another one."""
    hosts: dict[str, list[ParishSite]] = {}
    for parish in parishes:
        hosts.setdefault(host_of(parish.start), []).append(parish)
    own: dict[str, ParishSite] = {}
    for host, sharing in hosts.items():
        if host and len(sharing) > 1:
            own |= {parish.id: parish for parish in _separated(sharing)}
    return [own.get(parish.id, parish) for parish in parishes]


def _separated(sharing: Sequence[ParishSite]) -> list[ParishSite]:
    folders = _folders([urlsplit(parish.start).path for parish in sharing])
    separated = []
    for parish, folder in zip(sharing, folders, strict=True):
        below = {each for each in folders if each != folder and is_below(each, folder)}
        if folder != "/" or below:
            parish = replace(parish, folder=folder, others=tuple(sorted(below)))  # noqa: PLW2901
        separated.append(parish)
    return separated


def _folders(paths: Sequence[str]) -> list[str]:
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
