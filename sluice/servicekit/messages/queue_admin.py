"""Queues for administrators: waiting messages and dead letters."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import structlog

from sluice.contracts.common.problems import NotAvailable, NotFound
from sluice.contracts.messaging.queue_status import (
    MAX_BODY_PREVIEW,
    ChooseMessages,
    DeadMessage,
    DeadMessages,
    MessagesMoved,
    QueueList,
    QueueStatus,
)
from sluice.contracts.messaging.queues import QUEUES
from sluice.servicekit.transport.base import Transport, TransportUnavailable
from sluice.servicekit.transport.dead_letters import DeadLetter
from sluice.text.visible_text import quoted

log = structlog.get_logger(__name__)

#: The number of oldest dead letters that a search covers.
_MAX_SEARCHED = 1000


class QueueUnknown(NotFound):
    """There is no queue of this name."""

    def __init__(self, queue: str) -> None:
        super().__init__(
            f"there is no queue {quoted(queue)}; there are {', '.join(QUEUES)}", queue=queue
        )


class MessagesUnknown(NotFound):
    """The queue has no dead letter with any of the given ids."""

    def __init__(self, queue: str, ids: Sequence[str]) -> None:
        which = (
            f"message {quoted(ids[0])}" if len(ids) == 1 else f"any of these {len(ids)} messages"
        )
        super().__init__(
            f"queue {queue} has no dead letter of {which}: it was requeued or dropped, or never"
            " existed",
            queue=queue,
        )


class QueueAdmin:
    """Inspection of queues and handling of their dead letters.

    Every method raises ``NotAvailable`` while the broker is unavailable, and ``QueueUnknown``.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._dead: dict[str, int] = {}

    @property
    def recent_dead_letters(self) -> Mapping[str, int]:
        """Return the number of dead letters of each queue, as ``queues`` last found it.

        This does not wait for the broker.
        """
        return self._dead

    async def queues(self) -> QueueList:
        """Return the state of all queues."""
        with _translate_errors():
            status = QueueList(queues=[await self._status(name) for name in QUEUES])
        self._dead = {queue.name: queue.dead for queue in status.queues}
        return status

    async def dead(self, queue: str, *, limit: int) -> DeadMessages:
        """Return the number of dead letters and the oldest ones."""
        with _translate_errors():
            count = await self._transport.count_dead(_require_queue(queue))
            letters = await self._transport.dead_letters(queue, limit=limit) if count else []
        return DeadMessages(
            queue=queue, dead=count, messages=[_to_dead_message(letter) for letter in letters]
        )

    async def body(self, queue: str, message: str) -> bytes:
        """Return the whole body of a dead letter.

        Raises:
            MessagesUnknown: The message is not among the oldest dead letters.
        """
        with _translate_errors():
            letters = await self._transport.dead_letters(_require_queue(queue), limit=_MAX_SEARCHED)
        body = next((letter.body for letter in letters if letter.id == message), None)
        if body is None:
            raise MessagesUnknown(queue, [message])
        return body

    async def requeue(self, queue: str, choice: ChooseMessages) -> MessagesMoved:
        """Put dead letters back into their queue.

        Raises:
            MessagesUnknown: None of the named messages exists.
        """
        with _translate_errors():
            moved = await self._transport.requeue(_require_queue(queue), _selected_ids(choice))
        return await self._report_moved("queue.requeued", queue, choice, moved)

    async def drop(self, queue: str, choice: ChooseMessages) -> MessagesMoved:
        """Delete dead letters.

        Raises:
            MessagesUnknown: None of the named messages exists.
        """
        with _translate_errors():
            moved = await self._transport.drop(_require_queue(queue), _selected_ids(choice))
        return await self._report_moved("queue.dropped", queue, choice, moved)

    async def _report_moved(
        self, event: str, queue: str, choice: ChooseMessages, moved: int
    ) -> MessagesMoved:
        log.warning(event, queue=queue, messages=moved, ids=choice.ids)
        if choice.ids and choice.ids != "all" and not moved:
            raise MessagesUnknown(queue, choice.ids)
        with _translate_errors():
            return MessagesMoved(
                queue=queue, moved=moved, dead=await self._transport.count_dead(queue)
            )

    async def _status(self, name: str) -> QueueStatus:
        waiting, dead = await self._transport.depth(name), await self._transport.count_dead(name)
        return QueueStatus(name=name, consumer=QUEUES[name].consumer, waiting=waiting, dead=dead)


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except TransportUnavailable as error:
        raise NotAvailable(
            f"the message broker does not answer now: {error.what}; try again"
        ) from error


def _require_queue(queue: str) -> str:
    if queue not in QUEUES:
        raise QueueUnknown(queue)
    return queue


def _selected_ids(choice: ChooseMessages) -> set[str] | None:
    return None if choice.ids == "all" else set(choice.ids)


def _to_dead_message(letter: DeadLetter) -> DeadMessage:
    text = letter.body[:MAX_BODY_PREVIEW].decode("utf-8", "replace") + (
        "…" if len(letter.body) > MAX_BODY_PREVIEW else ""
    )
    return DeadMessage(
        id=letter.id, reason=letter.reason, died_at=letter.died_at, body=text, size=len(letter.body)
    )
