"""SQL that only reads: pages of chains and tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.attention import Acknowledgement
from sluice.contracts.chains.chains import (
    Chain,
    ChainCollection,
    ChainDataset,
    ChainStep,
    ChainTask,
)
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.states import ChainState, StepState
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from sluice.text.visible_text import quoted
from wfms.chains.db.attention import NEEDING_ATTENTION
from wfms.chains.db.collections import list_collections

_SELECT_CHAINS = """
-- A page, the newest first. $3 is the position of the last chain of the previous page.
SELECT uid, position, state, template_id, template_name AS template, template_version, dataset_uid,
    dataset_name, params, secrets,
    created_at, ended_at, reason, rerun_of, rank, acknowledged_by, acknowledged_at,
    discarded, owner, owner_group AS "group"
FROM chains
WHERE ($1::uuid[] IS NULL OR uid = ANY($1)) AND ($2::text IS NULL OR state = $2)
    AND ($3::bigint IS NULL OR position < $3)
    AND ($5::uuid IS NULL OR dataset_uid = $5)
    AND ($6::text[] IS NULL OR owner_group = ANY($6))
ORDER BY position DESC LIMIT $4
"""

CHAINS_OF_ATTENTION = _SELECT_CHAINS.replace(
    "\nORDER", f"\n    AND uid IN ({NEEDING_ATTENTION})\nORDER"
)

#: Finished chains, with the number of failed jobs that nobody has decided about.
_SELECT_CHAINS_WITH_FAILURES = CHAINS_OF_ATTENTION.replace(
    "\nFROM chains",
    """,
    (SELECT sum(failed_jobs)::int FROM steps WHERE chain_uid = chains.uid AND taken_from IS NULL)
        AS failed_jobs
FROM chains""",
    1,
)

#: Uses the index chains_ended.
CHAINS_BY_END = _SELECT_CHAINS.replace(
    "\nORDER BY", "\n    AND ended_at IS NOT NULL\nORDER BY ended_at DESC,"
)

_SELECT_STEPS = statement("""
SELECT chain_uid, name, state, task_uid, started_at, ended_at, reason, taken_from, jobs_from,
    failed_jobs, state <> '{step.PENDING}' AS begun
FROM steps WHERE chain_uid = ANY($1::uuid[]) ORDER BY chain_uid, ordinal
""")

_SELECT_DATASETS = """
SELECT datasets.chain_uid, datasets.uid, datasets.name, datasets.step, datasets.port,
    datasets.status
FROM datasets LEFT JOIN steps ON steps.chain_uid = datasets.chain_uid AND steps.name = datasets.step
WHERE datasets.chain_uid = ANY($1::uuid[])
ORDER BY datasets.chain_uid, steps.ordinal NULLS FIRST, datasets.port NULLS LAST
"""

_SELECT_TASKS = statement("""
-- Steps that have started, of the newest chains first. $5 and $6 are the position of the last step
-- of the previous page.
SELECT steps.task_uid, steps.chain_uid, steps.name, steps.state, chains.template_name,
    chains.dataset_name,
    chains.position, steps.ordinal
FROM steps JOIN chains ON chains.uid = steps.chain_uid
WHERE steps.taken_from IS NULL AND ($1::uuid IS NULL OR steps.task_uid = $1)
    AND ($2::uuid IS NULL OR steps.chain_uid = $2)
AND ($3::text IS NULL OR steps.state = $3)
AND ($1 IS NOT NULL OR $3 IS NOT NULL OR steps.state <> '{step.PENDING}')
AND ($7::text[] IS NULL OR chains.owner_group = ANY($7))
AND ($5::bigint IS NULL OR chains.position <= $5 AND (chains.position < $5 OR steps.ordinal > $6))
ORDER BY chains.position DESC, steps.ordinal LIMIT $4
""")


_SELECT_SPACE_FREEING_TASKS = statement("""
-- Running tasks of the oldest chains whose input is deleted at the end, each with its input.
SELECT steps.task_uid, chains.dataset_uid FROM steps JOIN chains ON chains.uid = steps.chain_uid
WHERE chains.state = '{chain.IN_PROGRESS}' AND steps.state = '{step.IN_PROGRESS}'
    AND steps.taken_from IS NULL
    AND chains.plan->'retention'->>'input' IS DISTINCT FROM 'keep'
    AND (chains.input_copied OR chains.plan->'retention' @> '{{"only_copies": true}}')
ORDER BY chains.position, steps.ordinal LIMIT $1
""")


async def list_space_freeing_tasks(
    connection: Connection, *, limit: int
) -> list[tuple[UUID, UUID]]:
    """Return running tasks of chains that delete their input, each with this input."""
    return [
        (row["task_uid"], row["dataset_uid"])
        for row in await connection.fetch(_SELECT_SPACE_FREEING_TASKS, limit)
    ]


#: Conditions of further filters, by the field of ``ChainQuery``. A statement contains only the
#: conditions that are asked for, so that the planner finds their indexes: datasets_uid,
#: chains_by_template, chains_by_owner, chains_by_meta.
_FILTERS = {
    "uses": "uid IN (SELECT chain_uid FROM datasets WHERE datasets.uid = {} AND step IS NULL)",
    "template": "template_name = {}",
    "owner": "owner = {}",
    "meta": "dataset->'meta' @> {}::jsonb",
    "incomplete": "{}::boolean AND EXISTS (SELECT FROM steps WHERE chain_uid = chains.uid"
    " AND failed_jobs > 0)",
}


@dataclass(frozen=True, slots=True)
class ChainQuery:
    """Which chains are listed, and how.

    Attributes:
        uids: Only these.
        state: Only those in this state.
        dataset: Only those with this input.
        uses: Only those that have it as their input or as a parameter value.
        template: Only those of any version of the template of this name.
        owner: Only those of this account.
        meta: Only those whose input has these values in its metadata.
        incomplete: Only those with failed jobs.
        attention: Only those that need a person.
        ended: Only those that have ended, the last to end first, on one page.
        limit: Length of a page.
        visibility: The visibility of the caller.
    """

    uids: Sequence[UUID] | None = None
    state: ChainState | None = None
    dataset: UUID | None = None
    uses: UUID | None = None
    template: str | None = None
    owner: str | None = None
    meta: dict[str, Any] | None = None
    incomplete: bool | None = None
    attention: bool = False
    ended: bool = False
    limit: int = 1
    visibility: Visibility = ALL

    @property
    def further(self) -> dict[str, Any]:
        """Return the values of the further filters that are asked for, by field."""
        values = {field: getattr(self, field) for field in _FILTERS}
        return {field: value for field, value in values.items() if value is not None}

    @property
    def statement(self) -> str:
        """Return the SQL; the values of ``further`` follow its first six parameters."""
        statement = _SELECT_CHAINS
        if self.ended:
            statement = CHAINS_BY_END
        elif self.attention:
            finished = self.state is ChainState.FINISHED
            statement = _SELECT_CHAINS_WITH_FAILURES if finished else CHAINS_OF_ATTENTION
        conditions = "".join(
            f"\n    AND {_FILTERS[field].format(f'${number}')}"
            for number, field in enumerate(self.further, 7)
        )
        return statement.replace("\nORDER", f"{conditions}\nORDER")


async def list_chain_page(
    connection: Connection, query: ChainQuery, *, before: int | None = None
) -> tuple[list[Chain], int | None]:
    """Return a page of chains, and the start of the next page.

    ``before`` is the start of this page. If this page is not full, the start of the next is None.
    """
    rows = await connection.fetch(
        query.statement,
        query.uids,
        query.state,
        before,
        query.limit,
        query.dataset,
        query.visibility.names(),
        *query.further.values(),
    )
    uids = [row["uid"] for row in rows]
    steps = await connection.fetch(_SELECT_STEPS, uids)
    datasets = await connection.fetch(_SELECT_DATASETS, uids)
    collected = await list_collections(connection, uids)
    last = int(rows[-1]["position"]) if len(rows) == query.limit and not query.ended else None
    chains = [_chain(row, steps, datasets, collected.get(row["uid"], [])) for row in rows]
    return chains, last


def _chain(
    row: asyncpg.Record,
    steps: Sequence[asyncpg.Record],
    datasets: Sequence[asyncpg.Record],
    collections: list[ChainCollection],
) -> Chain:
    fields = {
        key: value
        for key, value in row.items()
        if key not in {"position", "acknowledged_by", "acknowledged_at", "secrets"}
    }
    acknowledged_at, own = (
        row["acknowledged_at"],
        [step for step in steps if step["chain_uid"] == row["uid"]],
    )
    failed = sum(step["failed_jobs"] for step in own)
    if failed and row["state"] == ChainState.FINISHED and not row["reason"]:
        failures = [
            f"{format_count(step['failed_jobs'], 'job')} of step {quoted(step['name'])}"
            for step in own
            if step["failed_jobs"]
        ]
        fields["reason"] = f"outputs are missing because {', '.join(failures)} failed"
    fields.setdefault("failed_jobs", failed)
    return Chain(
        **fields,
        secrets=row["secrets"] or {},
        acknowledged=None
        if acknowledged_at is None
        else Acknowledgement(by=row["acknowledged_by"], at=acknowledged_at),
        steps=[_step(step) for step in own],
        datasets=[_dataset(dataset) for dataset in datasets if dataset["chain_uid"] == row["uid"]],
        collected=collections,
    )


def _step(row: asyncpg.Record) -> ChainStep:
    return ChainStep(
        name=row["name"],
        state=row["state"],
        task_uid=row["task_uid"] if row["begun"] and row["taken_from"] is None else None,
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        reason=row["reason"],
        failed_jobs=row["failed_jobs"],
        taken_from=row["taken_from"],
        jobs_from=row["jobs_from"],
    )


def _dataset(row: asyncpg.Record) -> ChainDataset:
    return ChainDataset(
        uid=row["uid"], name=row["name"], step=row["step"], port=row["port"], state=row["status"]
    )


async def list_task_page(
    connection: Connection,
    *,
    task: UUID | None = None,
    chain: UUID | None = None,
    state: StepState | None = None,
    after: tuple[int, int] | None = None,
    limit: int = 1,
    visibility: Visibility = ALL,
) -> tuple[list[ChainTask], tuple[int, int] | None]:
    """Return a page of tasks without the WMS's counts, and the place of the last one.

    A place is the position of the chain and the number of the step. It is None if the page is not
    full.
    """
    rows = await connection.fetch(
        _SELECT_TASKS, task, chain, state, limit, *(after or (None, None)), visibility.names()
    )
    last = (int(rows[-1]["position"]), int(rows[-1]["ordinal"])) if len(rows) == limit else None
    tasks = [
        ChainTask(
            task_uid=row["task_uid"],
            chain_uid=row["chain_uid"],
            step=row["name"],
            template=row["template_name"],
            dataset_name=row["dataset_name"],
            state=row["state"],
        )
        for row in rows
    ]
    return tasks, last
