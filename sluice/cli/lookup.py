"""What people call things on the command line: data sets, chains, tasks and pilots by name, or by
the beginning of their uid."""

from uuid import UUID

from sluice.cli.connection import Connection
from sluice.cli.system import System
from sluice.contracts.chains import Chain
from sluice.contracts.datasets import Dataset
from sluice.contracts.labels import Ambiguous, meant
from sluice.contracts.pilot_list import Pilot
from sluice.contracts.problems import NotFound
from sluice.contracts.states import PilotState
from sluice.contracts.templates import template_label

#: Characters of a uid that are taken for its beginning.
SHORTEST = 6
#: Looked through for a beginning of a uid: the newest ones.
_DATASETS, _CHAINS = 10_000, 1_000


async def dataset_called(connection: Connection, called: str) -> Dataset:
    """Raises ``NotFound``, ``Ambiguous``."""
    uid = _uid(called)
    if uid is not None:
        return await connection.operator.dataset(uid)
    found = (await connection.operator.datasets(name=called)).datasets
    if not found and len(called) >= SHORTEST:
        newest = (await connection.operator.datasets(newest=True, limit=_DATASETS)).datasets
        found = [dataset for dataset in newest if _begins(dataset.uid, called)]
    dataset = meant(called, found)
    if dataset is None:
        raise NotFound(f"there is no data set {called!r}")
    return dataset


async def chain_called(connection: Connection, called: str) -> Chain:
    """Raises ``NotFound``, ``Ambiguous``."""
    uid = _uid(called)
    if uid is not None:
        return await connection.operator.chain(uid)
    found = (await connection.operator.chains(name=called, limit=_CHAINS)).chains
    if not found:
        newest = (await connection.operator.chains(limit=_CHAINS)).chains
        found = [
            chain for chain in newest if chain.dataset_name == called or _begins(chain.uid, called)
        ]
    if len(found) > 1:
        raise Ambiguous("chains", called, [_chain_in_short(chain) for chain in found])
    if not found:
        raise NotFound(f"there is no chain {called!r}")
    return found[0]


async def task_called(connection: Connection, called: str) -> UUID:
    """Raises ``NotFound``, ``Ambiguous``. Names of data sets may have dots, and so may steps."""
    uid = _uid(called)
    if uid is not None:
        return uid
    for place in reversed([place for place, letter in enumerate(called) if letter == "."]):
        try:
            chain = await chain_called(connection, called[:place])
        except NotFound:
            continue
        tasks = [step.task_uid for step in chain.steps if step.name == called[place + 1 :]]
        if tasks and tasks[0] is not None:
            return tasks[0]
    raise NotFound(
        f"there is no task {called!r}: give its uid, or CHAIN.STEP of a step that has begun"
    )


async def pilot_called(connection: Connection, called: str) -> Pilot:
    """Of several of a name the one that is active. Raises ``NotFound``, ``Ambiguous``."""
    pilots = (await connection.operator.pilots()).pilots
    found = [
        pilot
        for pilot in pilots
        if called in {pilot.name, str(pilot.uid)} or _begins(pilot.uid, called)
    ]
    active = [pilot for pilot in found if pilot.state is PilotState.ACTIVE]
    if len(active or found) > 1:
        raise Ambiguous(
            "pilots",
            called,
            [
                f"{pilot.uid}: {pilot.name} on {pilot.host}, {pilot.state}"
                for pilot in active or found
            ],
        )
    if not found:
        raise NotFound(f"there is no pilot {called!r}")
    return (active or found)[0]


def _chain_in_short(chain: Chain) -> str:
    through = template_label(chain.template_name, chain.template_version)
    return (
        f"{chain.uid}: {chain.dataset_name} through {through}, {chain.state},"
        f" {chain.created_at:%F %T}"
    )


def _uid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _begins(uid: UUID, text: str) -> bool:
    return len(text) >= SHORTEST and str(uid).startswith(text.lower())


def the_dataset(system: System, called: str) -> UUID:
    """Ends the command where there is none such, or several."""
    return _uid(called) or system.ask(lambda c: dataset_called(c, called)).uid


def the_chain(system: System, called: str) -> UUID:
    """As ``the_dataset``."""
    return _uid(called) or system.ask(lambda c: chain_called(c, called)).uid


def the_task(system: System, called: str) -> UUID:
    """As ``the_dataset``."""
    return _uid(called) or system.ask(lambda c: task_called(c, called))


def the_pilot(system: System, called: str) -> UUID:
    """As ``the_dataset``."""
    return _uid(called) or system.ask(lambda c: pilot_called(c, called)).uid
