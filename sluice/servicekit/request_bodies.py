"""Room for the bodies of requests that are held at the same time, and who leaves where there is no
more.
"""

import asyncio

from starlette.types import Message, Send

#: Bytes; bodies up to this size need no room: there are no more of them than connections.
SMALL = 64 * 1024
#: Bodies as large as allowed for which there is room.
LARGE = 4


class NoRoom(Exception):
    """This body has to leave."""


class HeldBody:
    """One body. ``arriving``: what ends the wait for the rest of it; None once it is complete.
    ``dismissed``: it has to leave.
    """

    def __init__(self) -> None:
        self.size = 0
        self.arriving: asyncio.Timeout | None = None
        self.dismissed = False


class BodyRoom:
    """Where it is used up, the largest body that still arrives leaves, whoever sends at that
    moment: a few that never end must not keep the smaller ones of others out.
    """

    def __init__(self, largest: int) -> None:
        """``largest``: bytes that one body may have."""
        self._most = LARGE * largest
        self._held: set[HeldBody] = set()

    def take(self, body: HeldBody, size: int) -> None:
        """``body``, which arrives, has so many bytes now. Raises ``NoRoom``."""
        body.size = size
        if size > SMALL:
            self._held.add(body)
        while sum(held.size for held in self._held) > self._most:
            largest = max(
                (held for held in self._held if held.arriving is not None),
                key=lambda held: held.size,
            )
            self._dismiss(largest)
            if largest is body:
                break
        if body.dismissed:
            raise NoRoom

    def leave(self, body: HeldBody) -> None:
        self._held.discard(body)

    def until_answered(self, body: HeldBody, send: Send) -> Send:
        """A body whose answer begins has been read, and is needed no longer, however slowly the
        answer is taken.
        """
        if body not in self._held:
            return send

        async def begin(message: Message) -> None:
            self.leave(body)
            await send(message)

        return begin

    def _dismiss(self, body: HeldBody) -> None:
        self.leave(body)
        body.dismissed = True
        if body.arriving is not None:
            body.arriving.reschedule(asyncio.get_running_loop().time())
