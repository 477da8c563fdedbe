"""What people ask of the queues between services, and of the messages that nobody could handle."""

from typing import Literal

from sluice.contracts.base import Contract, Timestamp


class QueueStatus(Contract):
    """``consumer``: the service that handles its messages. ``waiting``: those in its hands are not
    counted. ``dead``: messages that could not be handled, kept for a person."""

    name: str
    consumer: str
    waiting: int
    dead: int


class QueueList(Contract):
    queues: list[QueueStatus]


#: Bytes of a body that are shown in a list.
SHOWN = 4000


class DeadMessage(Contract):
    """``id``: by which it is requeued or dropped. ``body``: its first ``SHOWN`` bytes, as text, and
    ``…`` where there are more. ``size``: bytes of the whole body."""

    id: str
    reason: str
    died_at: Timestamp | None
    body: str
    size: int

    @property
    def cut(self) -> bool:
        """Is only its beginning here?"""
        return self.size > SHOWN


class DeadMessages(Contract):
    """The oldest first. ``dead``: how many there are in all."""

    queue: str
    dead: int
    messages: list[DeadMessage]


class ChooseMessages(Contract):
    """Dead messages by their ids, or all of them. Said outright, so that nothing is dropped by
    leaving something out."""

    ids: list[str] | Literal["all"]


class MessagesMoved(Contract):
    """``moved``: requeued or dropped. ``dead``: how many are dead now."""

    queue: str
    moved: int
    dead: int
