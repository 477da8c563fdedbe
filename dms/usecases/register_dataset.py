"""Registering a data set."""

import asyncio
from uuid import uuid4

import asyncpg

from dms.db.datasets import DatasetRow, dataset_by_name, insert_dataset
from dms.db.periods import run_by_number
from dms.db.storages import all_roots
from dms.domain.differences import require_same_request
from dms.domain.places import OutsideStorages, place_of
from dms.domain.storage_facts import StorageTakesNothing
from dms.usecases.list_storages import Objections
from dms.usecases.look_at_links import require_no_link
from sluice.contracts.datasets import Dataset, NewDataset
from sluice.contracts.problems import Conflict, Unprocessable
from sluice.contracts.states import DatasetType
from sluice.servicekit.database import Connection, Database


async def register_dataset(database: Database, new: NewDataset, *, objections: Objections) -> tuple[Dataset, bool]:
    """Effect: an open data set; of a name that is known, the first (then False). Messages: none.

    Raises ``Conflict`` where the name is known and the request differs, or the folder is another data set's; ``Unprocessable``
    for an unknown period or run, or a folder outside the storages or behind a link; ``StorageTakesNothing``.
    """
    async with database.connection() as connection:
        first = await dataset_by_name(connection, new.name)
        if first is not None:
            return _same(first, new), False
        period = await _period(connection, new)
        await _require_folder(connection, new, objections)
        try:
            made = await insert_dataset(connection, uuid4(), new, period=period)
        except asyncpg.ForeignKeyViolationError as error:
            raise Unprocessable(f"data set {new.name!r}: period {period!r} is not registered", period=period) from error
        except asyncpg.UniqueViolationError:
            made = None  # of the folder, or of the name by somebody at the same moment
        if made is not None:
            return made, True
        first = await dataset_by_name(connection, new.name)
        if first is None:
            raise Conflict(f"data set {new.name!r}: the folder {new.url} is another data set's", url=new.url)
        return _same(first, new), False


def _same(first: DatasetRow, new: NewDataset) -> Dataset:
    require_same_request(f"data set {new.name!r}", first.request, new.model_dump(mode="json"), dataset=first.dataset.uid)
    return first.dataset


async def _period(connection: Connection, new: NewDataset) -> str | None:
    """The period asked for, or that of the run."""
    if new.run is None:
        return new.period
    run = await run_by_number(connection, new.run)
    if run is None:
        raise Unprocessable(f"data set {new.name!r}: run {new.run} is not registered", run=new.run)
    if new.period not in {None, run.period}:
        raise Unprocessable(f"data set {new.name!r}: run {new.run} belongs to period {run.period!r}, not {new.period!r}")
    return run.period


async def _require_folder(connection: Connection, new: NewDataset, objections: Objections) -> None:
    if new.url is None:
        return
    what = f"data set {new.name!r}"
    roots = [root for root in (await all_roots(connection)).values() if root.enabled]
    place = place_of(new.url, roots, what=what)
    if (why := objections.get(place.root.id)) is not None:
        raise StorageTakesNothing(what, place.root.name, place.root.id, why)
    if not place.path:
        if new.type is not DatasetType.INPUT:
            raise OutsideStorages(what, new.url, "is the folder of a storage itself: give a folder in it")
        return
    await asyncio.to_thread(require_no_link, place, what=what)
