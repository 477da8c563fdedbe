"""The main navigation: groups of links to pages that have a fixed address."""

from dataclasses import dataclass, field
from enum import Enum, auto

from wfms.operator.http.access import may


class LinkGroup(Enum):
    """A group of links, in the order of the navigation."""

    WORK = auto()
    DATA = auto()
    WORKFLOWS = auto()
    SYSTEM = auto()


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the main navigation to the page that declares it."""

    group: LinkGroup
    label: str


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A link with its pages.

    Attributes:
        parts: Endpoints of the pages below it. The link is highlighted on them.
    """

    endpoint: str
    label: str
    parts: set[str] = field(default_factory=set)

    def holds(self, endpoint: str | None) -> bool:
        """Return whether the endpoint is the page of this entry or a page below it."""
        page = (endpoint or "").removeprefix("pages.")
        return page == self.endpoint or page in self.parts


class Navigation:
    """The links that pages declare, in the order of the declarations."""

    def __init__(self) -> None:
        self._groups: dict[LinkGroup, list[NavigationEntry]] = {group: [] for group in LinkGroup}
        self._entries: dict[str, NavigationEntry] = {}

    def add_link(self, endpoint: str, link: Link) -> None:
        """Add the link to a page."""
        entry = self._entries[endpoint] = NavigationEntry(endpoint, link.label)
        self._groups[link.group].append(entry)

    def add_part(self, endpoint: str, *, below: str) -> None:
        """Add a page below a link.

        Args:
            endpoint: The endpoint of the page.
            below: The endpoint of the page with the link, which must have been declared before.
        """
        self._entries[below].parts.add(endpoint)

    def list_visible(self) -> list[list[NavigationEntry]]:
        """Return the entries that the caller may see, in their groups."""
        return [
            [entry for entry in entries if may(entry.endpoint)] for entries in self._groups.values()
        ]
