"""The main navigation: groups of all pages that have a fixed address."""

from collections.abc import Sequence
from dataclasses import dataclass

from wfms.operator.http.access import may


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A link of the main navigation.

    Attributes:
        parts: Endpoints of the pages below it. The link is highlighted on them.
    """

    endpoint: str
    label: str
    parts: tuple[str, ...] = ()

    def holds(self, endpoint: str | None) -> bool:
        """Return whether the endpoint is the page of this entry or a page below it."""
        page = (endpoint or "").removeprefix("pages.")
        return page == self.endpoint or page in self.parts


def _create_entry(endpoint: str, label: str, *parts: str) -> NavigationEntry:
    return NavigationEntry(endpoint, label, parts)


#: Entries by subject: work, data, workflows, system and people.
NAVIGATION: Sequence[Sequence[NavigationEntry]] = (
    (
        _create_entry("overview", "Overview"),
        _create_entry(
            "chains", "Chains",
            "chain", "chain_times", "new_chain", "start_chain", "rerun", "start_rerun",
        ),
        _create_entry("tasks", "Tasks", "task", "job"),
        _create_entry("steps", "Steps"),
        _create_entry("human_tasks", "Human tasks", "human_task", "create_ask_link"),
        _create_entry("times", "Times"),
    ),
    (
        _create_entry("datasets", "Data sets", "dataset", "file"),
        _create_entry("unmatched", "Unmatched"),
        _create_entry("periods", "Periods", "run"),
        _create_entry("storages", "Storages"),
        _create_entry("assets", "Assets", "asset", "put_asset"),
    ),
    (
        _create_entry(
            "templates", "Templates",
            "template", "review_template", "publish_template", "upload", "restore_template",
            "delete_template", "run_templates", "run_template",
        ),
        _create_entry("tools", "Tools", "tool", "store_tool", "compose"),
    ),
    (
        _create_entry("pilots", "Pilots", "pilot"),
        _create_entry("queues", "Queues", "queue"),
        _create_entry("groups", "Groups"),
        _create_entry("people", "People"),
        _create_entry("audit", "Audit"),
    ),
)  # fmt: skip


def navigation() -> list[list[NavigationEntry]]:
    """Return the entries that the caller may see, in their groups."""
    return [[entry for entry in group if may(entry.endpoint)] for group in NAVIGATION]
