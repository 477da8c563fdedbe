"""Match all unmatched data sets again."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.intake import RematchedAll
from sluice.contracts.templates.templates import Template
from sluice.servicekit.database import Database
from wfms.intake.db import intake
from wfms.intake.usecases.context import IntakeContext
from wfms.intake.usecases.new_decision import (
    DatasetNotUnmatched,
    UnmatchedDatasetDeleted,
    decide_again,
)

#: Number of data sets matched at the same time.
_BATCH = 16


async def rematch_all(context: IntakeContext, visibility: Visibility = ALL) -> RematchedAll:
    """Match all unmatched data sets again, the oldest first, and remove deleted ones.

    Each is matched in its own transaction. ``visibility`` says which of the remaining ones are
    counted.

    Raises:
        NotAvailable: Another service does not answer. Earlier decisions stay, and a repetition
            continues with the rest.
    """
    database = context.database
    templates = (await context.operator.list_templates()).templates
    matched, deleted, position = 0, 0, None
    while True:
        batch = await _next(database, position)
        if not batch:
            break
        position = batch[-1]
        outcomes = await asyncio.gather(
            *(_rematch(context, unmatched.uid, templates) for unmatched in batch)
        )
        matched += outcomes.count("matched")
        deleted += outcomes.count("gone")
    async with database.connection() as connection:
        return RematchedAll(
            matched=matched, gone=deleted, left=await intake.count_unmatched(connection, visibility)
        )


async def _next(
    database: Database, position: intake.UnmatchedPlace | None
) -> list[intake.UnmatchedPlace]:
    async with database.connection() as connection:
        return await intake.list_oldest_unmatched(connection, after=position, limit=_BATCH)


async def _rematch(context: IntakeContext, uid: UUID, templates: Sequence[Template]) -> str:
    try:
        rematched = await decide_again(context, uid, templates=templates)
    except UnmatchedDatasetDeleted:
        return "gone"
    except DatasetNotUnmatched:  # another request was faster
        return "left"
    return "matched" if rematched.template is not None else "left"
