"""The parish of a page, by the host, the path and the query of its site."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from masstimes.crawl.hosts import assign_folders, get_host
from masstimes.crawl.parishes import ParishSite
from sluice.packs.programs import BadData, parse_json, read_input


class Parishes:
    """Parishes by the domains of their sites."""

    def __init__(self, parishes: Iterable[ParishSite] = ()) -> None:
        self._by_domain: dict[str, list[ParishSite]] = defaultdict(list)
        self.ids: list[str] = []
        for parish in assign_folders([*parishes]):
            self._by_domain[parish.domain].append(parish)
            self.ids.append(parish.id)

    def id_at(self, domain: str, url: str) -> str:
        """Return the id of the parish of a page, or an empty text.

        If several parishes share the domain, the port, the longest path and the query decide.
        """
        bare = domain.lower().removeprefix("www.")
        host = bare.rpartition(":")[0] or bare
        sharing = self._by_domain.get(bare) or self._by_domain.get(host) or []
        if len(sharing) > 1:
            sharing = [parish for parish in sharing if parish.owns(url)]
        same = (parish for parish in sharing if get_host(parish.start) == get_host(url))
        return next(same, sharing[0]).id if sharing else ""


def read_parishes(paths: Iterable[Path]) -> Parishes:
    """Return the parishes of files, each with an id and a site.

    Raises:
        MissingInput: A file cannot be opened.
        BadData: A file has something else.
    """
    return Parishes(map(_read_parish, paths))


def _read_parish(path: Path) -> ParishSite:
    fields = parse_json(path, read_input(path))
    if (
        not isinstance(fields, dict)
        or not isinstance(fields.get("site"), str)
        or "id" not in fields
    ):
        raise BadData(path, "this is not a parish: JSON with an id and a site")
    return ParishSite(str(fields["id"]), "", fields["site"])
