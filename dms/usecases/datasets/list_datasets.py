"""List data sets."""

from collections.abc import Iterable
from uuid import UUID

from pydantic import AwareDatetime, Field

from dms.db.dataset_lists import (
    DatasetFilter,
    list_closed,
    list_datasets_by_uid,
    list_newest,
    list_registered,
)
from dms.db.datasets import DatasetRow, list_uids_by_name
from dms.domain.cursor import Order, parse_position, write_position
from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import Dataset, DatasetPage
from sluice.servicekit.database import Database

READABLE = [state for state in DatasetState if state.readable]


CALLED = (
    "Only the data set registered under this name. If there is none, outputs of chains with this"
    " name: the name of the chain's input, a dot, and the template's output. There may be"
    " several."
)


class ConflictingQueryParameters(Unprocessable):
    """A query has uids and other conditions."""

    def __init__(self, other_parameters: Iterable[str]) -> None:
        other_parameters = sorted(other_parameters)
        why = "give the uids of data sets or other conditions, not both"
        super().__init__(
            f"{why}: leave out {', '.join(other_parameters)}, or uid", conditions=other_parameters
        )


class DatasetQuery(Contract):
    """A query for data sets, in one of four forms.

    - With ``state``, ``name`` or ``newest``: in order of registration, or newest first.
    - With ``uid``: only these data sets; other conditions are refused.
    - Otherwise: the data sets that can be processed, in order of closing. A reader with a cursor
      misses none of them.
    """

    after: str | None = Field(
        None, description="The `after` of the previous page. Omit it for the first page."
    )
    timestamp: AwareDatetime | None = Field(
        None,
        description="Only data sets whose `timestamp` is later than this (ISO 8601 with a"
        " time zone).",
    )
    type: DatasetType | None = None
    state: list[DatasetState] = Field(
        [], description="Only data sets in these states. The default is all states."
    )
    name: str | None = Field(None, description=CALLED)
    uid: list[UUID] = Field([], max_length=1_000, description="Only these data sets.")
    newest: bool = Field(default=False, description="List the last registered data set first.")
    lost: bool = Field(
        default=False, description="With `uid`: include why an upload cannot succeed."
    )
    released: bool = Field(
        default=False,
        description="Include the numbers of released files, which steps no longer need.",
    )
    limit: int = Field(1_000, ge=1, le=10_000)


#: The function that reads each order.
_READ = {Order.CLOSING: list_closed, Order.REGISTRATION: list_registered, Order.NEWEST: list_newest}


async def list_datasets(
    database: Database, query: DatasetQuery, visibility: Visibility = ALL
) -> DatasetPage:
    """Return a page of the data sets that ``visibility`` includes.

    ``after`` of the page is the cursor of the next page; it does not change if the page is empty.

    Raises:
        InvalidCursor: The cursor is malformed, or belongs to another order.
        ConflictingQueryParameters: The query has uids and other conditions.
    """
    if query.uid:
        return await _list_by_uid(database, query, visibility)
    for_people = Order.REGISTRATION if query.state or query.name is not None else Order.CLOSING
    order = Order.NEWEST if query.newest else for_people
    after = parse_position(order, query.after)
    states = query.state or (READABLE if order is Order.CLOSING else list(DatasetState))
    async with database.connection() as connection:
        uids = None if query.name is None else await list_uids_by_name(connection, query.name)
        filters = DatasetFilter(
            states=states,
            type=query.type,
            later_than=query.timestamp,
            uids=uids,
            visibility=visibility,
        )
        rows = await _READ[order](connection, after, limit=query.limit, filters=filters)
    if not rows:
        return DatasetPage(datasets=[], after=query.after or None)
    last = rows[-1].closed_position if order is Order.CLOSING else rows[-1].position
    return DatasetPage(
        datasets=[_with_details(row, query) for row in rows],
        after=write_position(order, last or 0),
    )


async def _list_by_uid(
    database: Database, query: DatasetQuery, visibility: Visibility
) -> DatasetPage:
    if others := query.model_fields_set - {"uid", "lost", "released"}:
        raise ConflictingQueryParameters(others)
    async with database.connection() as connection:
        rows = await list_datasets_by_uid(connection, query.uid, visibility)
    return DatasetPage(datasets=[_with_details(row, query) for row in rows], after=None)


def _with_details(row: DatasetRow, query: DatasetQuery) -> Dataset:
    details = {
        "lost": row.lost if query.lost else None,
        "released": row.released if query.released else 0,
    }
    return row.dataset.model_copy(update=details)
