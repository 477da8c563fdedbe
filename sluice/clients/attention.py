"""Acknowledgement of several notices at once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import assert_never
from uuid import UUID

from sluice.contracts.chains.attention import Acknowledge, Subject
from sluice.contracts.common.problems import Conflict, NotFound

#: The number of concurrent requests.
_MAX_CONCURRENT = 8

Acknowledger = Callable[[UUID, Acknowledge], Awaitable[object]]


async def acknowledge_each(
    subjects: Sequence[tuple[Subject, UUID]],
    acknowledgement: Acknowledge,
    *,
    chain: Acknowledger,
    pilot: Acknowledger,
) -> list[NotFound | Conflict | None]:
    """Acknowledge notices, and return for each None or why it no longer needs attention.

    Any other error of a service is raised, and the later notices are then not acknowledged.

    Args:
        subjects: The kinds and uids of the notices.
        acknowledgement: The acknowledgement.
        chain: The call that acknowledges a chain.
        pilot: The call that acknowledges a pilot.
    """

    async def acknowledge(kind: Subject, uid: UUID) -> None:
        match kind:
            case Subject.CHAIN | Subject.FAILURES:
                await chain(uid, acknowledgement)
            case Subject.PILOT:
                await pilot(uid, acknowledgement)
            case _:
                assert_never(kind)

    answers: list[NotFound | Conflict | None] = []
    for first in range(0, len(subjects), _MAX_CONCURRENT):
        part = subjects[first : first + _MAX_CONCURRENT]
        for answer in await asyncio.gather(
            *(acknowledge(*subject) for subject in part), return_exceptions=True
        ):
            if not (answer is None or isinstance(answer, NotFound | Conflict)):
                raise answer
            answers.append(answer)
    return answers
