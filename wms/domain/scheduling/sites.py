"""Which labels and resources a pilot of a site may offer."""

from collections.abc import Iterable, Iterator

from sluice.contracts.pilots.pilots import NodeResources
from sluice.contracts.pilots.sites import Site


def list_forbidden_offers(site: Site, offered: NodeResources) -> list[str]:
    """Return a sentence for each label and resource that the pilot offers and its site may not."""
    return [
        *_list_forbidden("label", offered.labels, site.labels),
        *_list_forbidden("resource", offered.named, site.resources),
    ]


def _list_forbidden(what: str, offered: Iterable[str], allowed: list[str] | None) -> Iterator[str]:
    if allowed is not None:
        yield from (
            f"its site may not offer the {what} {name}" for name in offered if name not in allowed
        )
