"""Memory for the bodies of requests that are read at the same time."""

import asyncio

from starlette.types import Message, Send

#: Bytes. Bodies up to this size are not counted, because connections are limited.
SMALL = 64 * 1024
#: The number of bodies of maximum size for which there is memory.
LARGE = 4


class NoMemoryForBody(Exception):
    """There is no memory for this body."""


class RequestBody:
    """A request's body in memory.

    ``limit`` is its maximum size in bytes.
    ``arriving`` is the timeout of the wait for the rest of it; None once it is complete.
    ``dismissed`` means that it has to be dropped.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self.arriving: asyncio.Timeout | None = None
        self.dismissed = False


class BodyMemory:
    """The memory for bodies. When it is full, the largest incomplete body is dropped.

    It does not matter who sends at that moment: a few endless bodies must not block small ones.
    """

    def __init__(self, max_bytes: int) -> None:
        """Set up the memory for bodies of at most ``max_bytes`` bytes."""
        self._max_total_bytes = LARGE * max_bytes
        self._bodies: set[RequestBody] = set()

    def take(self, body: RequestBody, size: int) -> None:
        """Record the present size of a body that is arriving.

        Raises:
            NoMemoryForBody: The body has to be dropped.
        """
        body.size = size
        if size > SMALL:
            self._bodies.add(body)
        while sum(other.size for other in self._bodies) > self._max_total_bytes:
            largest_body = max(
                (other for other in self._bodies if other.arriving is not None),
                key=lambda other: other.size,
            )
            self._dismiss(largest_body)
            if largest_body is body:
                break
        if body.dismissed:
            raise NoMemoryForBody

    def leave(self, body: RequestBody) -> None:
        """Release the memory of a body."""
        self._bodies.discard(body)

    def until_answered(self, body: RequestBody, send: Send) -> Send:
        """Return a ``send`` that releases the body when the response begins.

        The application has read the body by then, and the client may be slow to read the response.
        """
        if body not in self._bodies:
            return send

        async def begin(message: Message) -> None:
            self.leave(body)
            await send(message)

        return begin

    def _dismiss(self, body: RequestBody) -> None:
        self.leave(body)
        body.dismissed = True
        if body.arriving is not None:
            body.arriving.reschedule(asyncio.get_running_loop().time())
