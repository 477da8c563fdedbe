"""Cache of task descriptions; they never change once stored, so nothing is invalidated."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import orjson

from sluice.contracts.common.states import EntryKind, InputMode
from sluice.contracts.jobs.tasks import Task, TaskOutput
from sluice.contracts.pilots.leases import BundlePort, PilotTask
from sluice.servicekit.database import Connection
from wms.db.tasks.tasks import list_stored_tasks


@dataclass(frozen=True, slots=True)
class CachedTask:
    """A task's description, prepared for use.

    Attributes:
        outputs: Outputs by port.
        pilot_json: A ``PilotTask`` as JSON for pilots, without defaults.
    """

    task: Task
    outputs: dict[str, TaskOutput]
    pilot_json: bytes

    @property
    def temporary_codes(self) -> frozenset[int]:
        """Exit codes of its tool after which another attempt may help."""
        codes = self.task.executable.get("temporaryFailCodes")
        return frozenset(codes) if isinstance(codes, list) else frozenset()

    @property
    def datasets(self) -> list[UUID]:
        """All data sets that the task writes: outputs, then logs."""
        parts = [] if self.task.parts_uid is None else [self.task.parts_uid]
        return [
            *(output.dat_out_uid for output in self.outputs.values()),
            *parts,
            self.task.log_out_uid,
        ]


class TaskCache:
    """Cache of the ``limit`` descriptions that were used last."""

    def __init__(self, limit: int = 512) -> None:
        self._limit = limit
        self._tasks: OrderedDict[UUID, CachedTask] = OrderedDict()

    async def get(self, connection: Connection, uids: Iterable[UUID]) -> dict[UUID, CachedTask]:
        """Return those of ``uids`` that are stored."""
        requested_uids = set(uids)
        tasks = {uid: self._tasks[uid] for uid in requested_uids if uid in self._tasks}
        missing = list(requested_uids - tasks.keys())
        if missing:
            for stored in await list_stored_tasks(connection, missing):
                tasks[stored.uid] = build_cached_task(stored)
        for uid, task in tasks.items():
            self._tasks[uid] = task
            self._tasks.move_to_end(uid)
        while len(self._tasks) > self._limit:
            self._tasks.popitem(last=False)
        return tasks


def build_cached_task(task: Task) -> CachedTask:
    """Prepare the description of a task for use."""
    pilot_task = PilotTask(
        uid=task.uid,
        chain_uid=task.chain_uid,
        step=task.step,
        executable=task.executable,
        args=task.args,
        mode=task.mode,
        depth=task.depth,
        dat_in_port=task.main_input.port,
        side_ports=[side.port for side in task.side_inputs],
        bundles=_list_bundles(task),
        batch=task.batch,
        outputs=task.outputs,
        log_out_uid=task.log_out_uid,
        log_out_url=task.log_out_url,
        needs=task.needs,
    )
    return CachedTask(
        task,
        {output.port: output for output in task.outputs},
        orjson.dumps(pilot_task.model_dump(mode="json", exclude_defaults=True)),
    )


def _list_bundles(task: Task) -> list[BundlePort]:
    return [
        BundlePort(port=task_input.port, whole=task_input.mode is InputMode.ALL)
        for task_input in task.inputs
        if task_input.kind is EntryKind.BUNDLE
    ]
