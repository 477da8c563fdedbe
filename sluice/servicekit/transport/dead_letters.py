"""Dead letters: messages that could not be handled and wait for an operator.

A message dies when it is rejected or when its last delivery fails. It also dies when it was
delivered as often as its queue allows without an answer. Both transports follow these rules.
"""

from dataclasses import dataclass
from datetime import datetime

#: The maximum number of characters of a reason. All headers of a RabbitMQ message must fit into one
#: frame.
MAX_REASON_LENGTH = 2000


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead letter. ``queue`` is where the message came from, ``reason`` is why it died."""

    id: str
    queue: str
    body: bytes
    reason: str
    died_at: datetime | None = None


def readable_reason(reason: str) -> str:
    """Return a reason without control characters, cut to a readable length.

    PostgreSQL's text type cannot store NUL.
    """
    plain = "".join(
        character if character.isprintable() or character == "\n" else "\N{REPLACEMENT CHARACTER}"
        for character in reason[: MAX_REASON_LENGTH + 1]
    )
    return plain if len(reason) <= MAX_REASON_LENGTH else plain[: MAX_REASON_LENGTH - 1] + "…"


def unanswered_reason(limit: int, last: str | None) -> str:
    """Return the reason for a message that was delivered ``limit`` times without an answer."""
    reason = f"handed out {limit} times without an acknowledgement"
    return f"{reason}; last failure: {last}" if last else reason
