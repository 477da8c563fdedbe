"""SQL that creates and locks chains, and changes their own rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg

from sluice.contracts.access.owners import may_take_away
from sluice.contracts.common.labels import label
from sluice.contracts.common.life_cycles import states_before
from sluice.contracts.common.states import ChainDatasetStatus, ChainState, StepState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.plan import Plan
from sluice.servicekit.access.ownership import Ownership
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wfms.chains.db.collections import list_waiting_outputs
from wfms.chains.domain.chain import ChainView, DatasetView, StepView
from wfms.chains.domain.identity import ChainKey, task_uid
from wfms.chains.domain.parameters import given_files
from wfms.chains.domain.tasks import Origin
from wfms.chains.domain.transitions import CHAIN_MOVES

_LOCK_CHAIN_ROW = """
-- Every change of a chain takes this lock first, so that changes happen one after another.
SELECT state, ending, reason, rank FROM chains WHERE uid = $1 FOR UPDATE
"""

_LOCK_CHAIN = """
-- The same lock, with all columns of the chain.
SELECT uid, state, ending, upload_asked, discarded, reason, template_id, template_name,
    template_version, plan, params, dataset_uid, dataset, owner, owner_group,
    input_copied, unsettled, keep_failed > '0' AND
    (ended_at IS NULL OR keep_until IS NOT NULL) AS kept
FROM chains WHERE uid = $1 FOR UPDATE
"""

_SELECT_STEPS = """
SELECT name, state, attempts, failed_jobs, started_at, taken_from, jobs_from FROM steps
WHERE chain_uid = $1 ORDER BY ordinal
"""

_SELECT_DATASETS = "SELECT uid, step, port, status, uploaded_at FROM datasets WHERE chain_uid = $1"

_LOCK_INPUT = """
-- Lock the first input until the transaction ends.
INSERT INTO inputs (dataset_uid)
VALUES ($1) ON CONFLICT (dataset_uid) DO UPDATE SET dataset_uid = EXCLUDED.dataset_uid
RETURNING released_at
"""

_IS_INPUT_NEEDED = statement("""
-- Return whether another chain runs on this input or has it as the value of a parameter, wants to
-- keep it, or has failed jobs that nobody has decided about.
SELECT EXISTS (
    SELECT 1 FROM chains WHERE dataset_uid = $1 AND uid <> $2
    AND (state IN ('{chain.IN_PROGRESS}', '{chain.UPLOADING}')
    OR plan->'retention'->>'input' = 'keep' OR state = '{chain.FINISHED}' AND unsettled)
) OR EXISTS (
    SELECT 1 FROM datasets JOIN chains ON chains.uid = datasets.chain_uid
    WHERE datasets.uid = $1 AND datasets.step IS NULL AND datasets.port IS NOT NULL
        AND chains.uid <> $2
    AND (chains.state IN ('{chain.IN_PROGRESS}', '{chain.UPLOADING}')
    OR chains.state = '{chain.FINISHED}' AND chains.unsettled)
)
""")

_CHAIN_EXISTS = "SELECT EXISTS (SELECT FROM chains WHERE uid = $1)"

_FIND_CHAIN = """
SELECT owner_group FROM chains
WHERE dataset_uid = $1 AND template_id = $2 AND template_version = $3 AND variant = $4
"""

_INSERT_CHAIN = """
INSERT INTO chains (
    uid, state, template_id, template_name, template_version, plan, params, dataset_uid,
        dataset_name, dataset, created_at,
    variant, keep_failed, rerun_of, secrets, rank, owner, owner_group, input_copied
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
"""

_INSERT_STEPS = """
INSERT INTO steps (chain_uid, ordinal, name, task_uid, state)
SELECT $1, ordinal, name, task_uid, $2
FROM unnest($3::int[], $4::text[], $5::uuid[]) AS new (ordinal, name, task_uid)
"""

_MOVE_CHAIN = """
-- Guarded by the states that the chain may leave. A chain that ends gets its time.
UPDATE chains
SET state = $2, upload_asked = upload_asked OR $6, ended_at = CASE WHEN $4 THEN $5::timestamptz END,
    keep_until = CASE WHEN $4 AND ending IS NOT NULL
        AND keep_failed > '0' THEN $5::timestamptz + keep_failed END
WHERE uid = $1 AND state = ANY($3::text[])
RETURNING uid
"""

_SET_RANK = "UPDATE chains SET rank = $2 WHERE uid = $1"

_SELECT_TASKS = statement("""
SELECT name, task_uid FROM steps
WHERE chain_uid = $1 AND state = '{step.IN_PROGRESS}' AND taken_from IS NULL
""")

_SELECT_EXPIRED_RERUN_DATA = (
    "SELECT uid FROM chains WHERE keep_until <= $1 ORDER BY keep_until LIMIT $2"
)

_END_KEEPING = "UPDATE chains SET keep_until = NULL WHERE uid = $1"

_DISCARD = "UPDATE chains SET discarded = true, unsettled = false WHERE uid = $1 RETURNING uid"

_SET_UNSETTLED = "UPDATE chains SET unsettled = $2 WHERE uid = $1"

_END_CHAIN = """
-- The first reason stays.
UPDATE chains SET ending = $2, reason = $3 WHERE uid = $1 AND ending IS NULL AND ended_at IS NULL
RETURNING uid
"""


@dataclass(frozen=True, slots=True)
class LockedChain:
    """The row of a locked chain."""

    state: ChainState
    ending: ChainState | None
    reason: str
    rank: float = 0.0


@dataclass(frozen=True, slots=True)
class TemplateVersion:
    """The version of a template that a chain runs."""

    id: UUID
    name: str
    version: int


@dataclass(frozen=True, slots=True)
class StoredChain:
    """A locked chain, with its steps and data sets."""

    uid: UUID
    reason: str
    params: dict[str, Any]
    origin: Origin
    template: TemplateVersion
    dataset: Dataset
    view: ChainView

    @property
    def input_uid(self) -> UUID:
        """Return the uid of the first input."""
        return self.dataset.uid


async def lock_inputs(connection: Connection, uids: Iterable[UUID]) -> list[UUID]:
    """Lock inputs until the transaction ends, in order of uid; return the released ones."""
    return [
        uid for uid in sorted(set(uids)) if await connection.fetchval(_LOCK_INPUT, uid) is not None
    ]


def _origin(uid: UUID, dataset: Dataset, row: asyncpg.Record) -> Origin:
    return Origin(
        chain=uid,
        template=row["template_name"],
        name=label(dataset),
        meta=dataset.meta,
        period=dataset.period,
        run=dataset.run,
        owner=row["owner"],
        group=row["owner_group"],
    )


async def lock_chain_row(connection: Connection, uid: UUID) -> LockedChain | None:
    """Lock the chain alone; return None if there is no such chain."""
    row = await connection.fetchrow(_LOCK_CHAIN_ROW, uid)
    if row is None:
        return None
    return LockedChain(ChainState(row["state"]), _ending(row), row["reason"], row["rank"])


async def lock_chain(connection: Connection, uid: UUID) -> StoredChain | None:
    """Lock the chain and its inputs; return None if there is no such chain.

    The inputs (the first one and files given as parameters) are locked after the chain, in order.
    So are outputs of a chain that releases them, because other chains may have them as input.
    """
    row = await connection.fetchrow(_LOCK_CHAIN, uid)
    if row is None:
        return None
    plan = Plan.model_validate(row["plan"])
    files = [] if row["params"] is None else list(given_files(plan, row["params"]).values())
    datasets = await connection.fetch(_SELECT_DATASETS, uid)
    outputs = _list_outputs_to_release(row, plan, datasets)
    await lock_inputs(connection, [row["dataset_uid"], *(file.dataset for file in files), *outputs])
    input_needed = await connection.fetchval(_IS_INPUT_NEEDED, row["dataset_uid"], uid)
    deletable = {file.dataset for file in files} - {
        file.dataset for file in files if file.retention == "keep"
    }
    disposable_files = frozenset(
        [file for file in deletable if not await connection.fetchval(_IS_INPUT_NEEDED, file, uid)]
    )
    used = frozenset(
        [output for output in outputs if await connection.fetchval(_IS_INPUT_NEEDED, output, uid)]
    ) | await list_waiting_outputs(connection, uid)
    steps = await connection.fetch(_SELECT_STEPS, uid)
    dataset = Dataset.model_validate(row["dataset"])
    view = ChainView(
        plan=plan,
        state=ChainState(row["state"]),
        ending=_ending(row),
        upload_requested=row["upload_asked"],
        input_type=dataset.type,
        input_needed=input_needed or not may_take_away(dataset.group, row["owner_group"]),
        steps={step["name"]: _step_view(step) for step in steps},
        datasets=[_dataset_view(dataset_row) for dataset_row in datasets],
        disposable_files=disposable_files,
        discarded=row["discarded"],
        used=used,
        within_retention=row["kept"],
        input_copied=row["input_copied"],
        unsettled=row["unsettled"],
    )
    return StoredChain(
        uid=uid,
        reason=row["reason"],
        params=row["params"],
        origin=_origin(uid, dataset, row),
        template=TemplateVersion(row["template_id"], row["template_name"], row["template_version"]),
        dataset=dataset,
        view=view,
    )


def _step_view(row: asyncpg.Record) -> StepView:
    return StepView(
        StepState(row["state"]),
        tried=row["attempts"] > 0,
        sent=row["started_at"] is not None,
        failed_jobs=row["failed_jobs"],
        taken_from=row["taken_from"],
        jobs_from=row["jobs_from"],
    )


def _dataset_view(row: asyncpg.Record) -> DatasetView:
    return DatasetView(
        uid=row["uid"],
        step=row["step"],
        port=row["port"],
        status=ChainDatasetStatus(row["status"]),
        uploaded=row["uploaded_at"] is not None,
    )


def _list_outputs_to_release(
    row: asyncpg.Record, plan: Plan, datasets: Iterable[asyncpg.Record]
) -> list[UUID]:
    withdrawn = row["upload_asked"] and _ending(row) is ChainState.CANCELED
    requested_outputs = (
        {(output.step, output.port) for output in plan.outputs} if row["upload_asked"] else set()
    )
    return [
        dataset["uid"]
        for dataset in datasets
        if (row["discarded"] or withdrawn)
        and (
            dataset["uploaded_at"] is not None
            or (dataset["step"], dataset["port"]) in requested_outputs
        )
    ]


def _ending(row: asyncpg.Record) -> ChainState | None:
    return None if row["ending"] is None else ChainState(row["ending"])


async def move_chain(connection: Connection, uid: UUID, *, to: ChainState, now: datetime) -> bool:
    """Move the chain to a state; return False if it may not go there."""
    uploads = to is ChainState.UPLOADING
    moved = await connection.fetchval(
        _MOVE_CHAIN, uid, to, states_before(CHAIN_MOVES, to), to.final, now, uploads
    )
    return moved is not None


async def chain_exists(connection: Connection, uid: UUID) -> bool:
    """Return whether the chain exists."""
    return bool(await connection.fetchval(_CHAIN_EXISTS, uid))


async def find_group_of_key(connection: Connection, key: ChainKey) -> str | None:
    """Return the group that has the chain with this key, or None."""
    group: str | None = await connection.fetchval(
        _FIND_CHAIN, key.dataset, key.template, key.version, key.variant
    )
    return group


async def set_rank(connection: Connection, uid: UUID, rank: float) -> None:
    """Set the rank of a locked chain."""
    await connection.execute(_SET_RANK, uid, rank)


async def list_running_tasks(connection: Connection, uid: UUID) -> dict[str, UUID]:
    """Return the tasks of the chain's steps in progress, by step."""
    return {row["name"]: row["task_uid"] for row in await connection.fetch(_SELECT_TASKS, uid)}


async def list_expired_rerun_data(
    connection: Connection, *, now: datetime, limit: int
) -> list[UUID]:
    """Return chains whose time to keep data for a rerun is over."""
    return [row["uid"] for row in await connection.fetch(_SELECT_EXPIRED_RERUN_DATA, now, limit)]


async def end_rerun_retention(connection: Connection, uid: UUID) -> None:
    """Record that the chain no longer keeps data for a rerun."""
    await connection.execute(_END_KEEPING, uid)


async def mark_discarded(connection: Connection, uid: UUID) -> bool:
    """Mark the chain as discarded; return False if there is no such chain."""
    return await connection.fetchval(_DISCARD, uid) is not None


async def set_unsettled(connection: Connection, uid: UUID, *, unsettled: bool) -> None:
    """Record whether somebody has to decide about failed jobs of a locked chain."""
    await connection.execute(_SET_UNSETTLED, uid, unsettled)


async def end_chain(connection: Connection, uid: UUID, ending: ChainState, *, reason: str) -> bool:
    """Record how the chain is going to end; return False if that was recorded before."""
    return await connection.fetchval(_END_CHAIN, uid, ending, reason) is not None


@dataclass(frozen=True, slots=True)
class NewChainRow:
    """A chain to store.

    ``params`` has the values of all parameters. ``keep_failed`` says how long intermediate data
    stays if the chain does not finish. ``rank`` is added to the ranks of its steps.
    """

    uid: UUID
    variant: str
    template: TemplateVersion
    plan: Plan
    params: Mapping[str, Any]
    dataset: Dataset
    keep_failed: timedelta
    ownership: Ownership
    input_copied: bool = False
    rerun_of: UUID | None = None
    rank: float = 0.0


async def insert_chain(connection: Connection, row: NewChainRow, *, now: datetime) -> None:
    """Insert the chain, in progress, and its steps, pending."""
    await connection.execute(
        _INSERT_CHAIN,
        row.uid,
        ChainState.IN_PROGRESS,
        row.template.id,
        row.template.name,
        row.template.version,
        row.plan.model_dump(mode="json"),
        dict(row.params),
        row.dataset.uid,
        row.dataset.name,
        row.dataset.model_dump(mode="json"),
        now,
        row.variant,
        row.keep_failed,
        row.rerun_of,
        {name: ref.model_dump(mode="json") for name, ref in row.plan.secrets.items()} or None,
        row.rank,
        row.ownership.owner,
        row.ownership.group,
        row.input_copied,
    )
    names = [step.name for step in row.plan.steps]
    tasks = [task_uid(row.uid, name) for name in names]
    await connection.execute(
        _INSERT_STEPS, row.uid, StepState.PENDING, list(range(len(names))), names, tasks
    )
