"""Reading data sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dms.db.datasets import DatasetFilter, dataset_by_uid, list_closed, list_newest, list_registered
from dms.domain.cursor import Order, read_position, write_position
from dms.domain.facts import UnknownDataset
from sluice.contracts.datasets import Dataset, DatasetPage
from sluice.contracts.states import DatasetState, DatasetType
from sluice.servicekit.database import Database

READABLE = [state for state in DatasetState if state.readable]


@dataclass(frozen=True, slots=True)
class DatasetQuery:
    """``states``, ``name`` or ``newest`` given: a list for people, in order of registration, or the newest first. None of them:
    the data sets that can be worked with, in order of closing, of which a reader with a cursor misses none."""

    after: str | None = None
    limit: int = 1_000
    timestamp: datetime | None = None
    type: DatasetType | None = None
    states: Sequence[DatasetState] = ()
    name: str | None = None
    newest: bool = False


#: How each order is read.
_READ = {Order.CLOSING: list_closed, Order.REGISTRATION: list_registered, Order.NEWEST: list_newest}


async def list_datasets(database: Database, query: DatasetQuery) -> DatasetPage:
    """One page. ``cursor``: where the next one begins; the one given where nothing was found. Raises ``WrongCursor``."""
    for_people = Order.REGISTRATION if query.states or query.name is not None else Order.CLOSING
    order = Order.NEWEST if query.newest else for_people
    after = read_position(order, query.after)
    states = query.states or (READABLE if order is Order.CLOSING else list(DatasetState))
    wanted = DatasetFilter(states=states, type=query.type, closed_after=query.timestamp, name=query.name)
    async with database.connection() as connection:
        rows = await _READ[order](connection, after, query.limit, wanted)
    if not rows:
        return DatasetPage(datasets=[], cursor=query.after or None)
    last = rows[-1].closed_position if order is Order.CLOSING else rows[-1].position
    return DatasetPage(datasets=[row.dataset for row in rows], cursor=write_position(order, last or 0))


async def read_dataset(database: Database, uid: UUID) -> Dataset:
    """Raises ``UnknownDataset``."""
    async with database.connection() as connection:
        row = await dataset_by_uid(connection, uid)
    if row is None:
        raise UnknownDataset(uid)
    return row.dataset
