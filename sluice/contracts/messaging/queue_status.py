"""Queues between services, and their dead letters."""

from typing import Literal

from sluice.contracts.common.base import Contract, Timestamp


class QueueStatus(Contract):
    """The state of a queue.

    Attributes:
        name: The name of the queue.
        consumer: The service that handles its messages.
        waiting: The number of waiting messages, without those that the consumer is handling.
        dead: The number of dead letters.
    """

    name: str
    consumer: str
    waiting: int
    dead: int


class QueueList(Contract):
    """All queues."""

    queues: list[QueueStatus]


#: Bytes of a body that a list shows.
MAX_BODY_PREVIEW = 4000


class DeadMessage(Contract):
    """A dead letter.

    Attributes:
        id: The id for requeue and drop.
        reason: Why the message could not be handled.
        died_at: When it became a dead letter, if known.
        body: The first 4000 bytes of its body as text. ``…`` at the end stands for the rest.
        size: The size of the whole body in bytes.
    """

    id: str
    reason: str
    died_at: Timestamp | None
    body: str
    size: int

    @property
    def cut(self) -> bool:
        """Whether ``body`` is only the beginning."""
        return self.size > MAX_BODY_PREVIEW


class DeadMessages(Contract):
    """Dead letters of a queue, oldest first.

    Attributes:
        queue: The name of the queue.
        dead: The number of all its dead letters.
        messages: The oldest dead letters.
    """

    queue: str
    dead: int
    messages: list[DeadMessage]


class ChooseMessages(Contract):
    """The dead letters that a request is about: their ids, or ``all``.

    ``all`` is written out, so that an omitted field does not drop messages.
    """

    ids: list[str] | Literal["all"]


class MessagesMoved(Contract):
    """The result of a requeue or a drop.

    Attributes:
        queue: The name of the queue.
        moved: The number of dead letters that were requeued or dropped.
        dead: The number of dead letters that are left.
    """

    queue: str
    moved: int
    dead: int
