"""Which labels and resources a pilot of a site may offer."""

from collections.abc import Iterable, Iterator

from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.sites import Site


def list_forbidden_offers(site: Site, offered_resources: NodeResources) -> list[str]:
    """Return a sentence for each label and resource that the pilot offers and its site may not."""
    return [
        *_list_forbidden("label", offered_resources.labels, site.labels),
        *_list_forbidden("resource", offered_resources.named, site.resources),
    ]


def _list_forbidden(
    subject: str, offered_values: Iterable[str], allowed_values: list[str] | None
) -> Iterator[str]:
    if allowed_values is not None:
        yield from (
            f"its site may not offer the {subject} {name}"
            for name in offered_values
            if name not in allowed_values
        )
