"""Dead letters: messages that nobody could handle, kept beside their queue until a person puts them
back or drops them.

A message dies when it is rejected, when the last of its deliveries fails, or when it was handed out
as often as it may be and never answered. Both transports keep to what stands here.
"""

from dataclasses import dataclass
from datetime import datetime

#: So often a message is delivered before it is dead, where its queue says nothing else (``Queue``).
DELIVERY_LIMIT = 5
#: Characters of a reason. A header of RabbitMQ has to fit into one frame together with all others.
LONGEST_REASON = 2000


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """``queue``: where the message was to be handled. ``reason``: why it died."""

    id: str
    queue: str
    body: bytes
    reason: str
    died_at: datetime | None = None


def readable_reason(reason: str) -> str:
    """``reason`` without control characters (PostgreSQL's text holds no NUL), cut where it is too
    long for a person.
    """
    plain = "".join(
        character if character.isprintable() or character == "\n" else "\N{REPLACEMENT CHARACTER}"
        for character in reason[: LONGEST_REASON + 1]
    )
    return plain if len(reason) <= LONGEST_REASON else plain[: LONGEST_REASON - 1] + "…"


def unanswered_reason(limit: int, last: str | None) -> str:
    """Why a message is dead that was handed out ``limit`` times and never answered the last
    time.
    """
    counted = f"handed out {limit} times without an acknowledgement"
    return f"{counted}; last failure: {last}" if last else counted
