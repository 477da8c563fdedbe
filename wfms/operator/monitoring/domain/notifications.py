"""Notifications about what needs people."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sluice.contracts.chains.attention import Notice
from sluice.contracts.chains.intake import Unmatched
from sluice.contracts.common.numbers import format_count
from sluice.text.visible_text import visible_line

#: Lines of one message.
MAX_LINES = 20
_NUMBER = re.compile(r"\d[\d\u202f.]*")


@dataclass(frozen=True, slots=True)
class Notification:
    """A subject that needs a person; ``key`` identifies it over time."""

    key: str
    text: str
    path: str


def to_unmatched_notification(dataset: Unmatched) -> Notification:
    """Return the news that no task can be defined for a data set."""
    return Notification(
        f"unmatched:{dataset.dataset_uid}",
        f"No task can be defined for data set {dataset.dataset_name}: {dataset.reason}",
        f"/datasets/{dataset.dataset_uid}",
    )


def to_notification(notice: Notice) -> Notification | None:
    """Return the news of a notice, or None if its subjects are reported one by one."""
    if notice.is_count:
        return None
    if notice.chain_uid is not None:
        path = f"/chains/{notice.chain_uid}"
    elif notice.task_uid is not None:
        path = f"/tasks/{notice.task_uid}"
    else:
        path = f"/{notice.page or ''}"
    # Numbers in a text change while its subject stays the same.
    return Notification(notice.id or f"{path} {_NUMBER.sub('#', notice.text)}", notice.text, path)


def build_message(news: Sequence[Notification], *, public_url: str) -> tuple[str, str]:
    """Return the title and the text of the message about ``news``."""
    lines = [
        f"- {visible_line(each.text)}"
        + (f"\n  {public_url.rstrip('/')}{each.path}" if public_url else "")
        for each in news[:MAX_LINES]
    ]
    if len(news) > MAX_LINES:
        lines.append(f"- and {len(news) - MAX_LINES} more")
    return f"Sluice: {format_count(len(news), 'thing')} to look at", "\n".join(lines)
