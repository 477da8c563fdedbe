"""Cache of task descriptions; they never change once stored, so nothing is invalidated."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import orjson

from sluice.contracts.common.states import EntryKind, InputMode
from sluice.contracts.jobs.tasks import Task, TaskOutput
from sluice.contracts.pilots.pilots import BundlePort, PilotTask
from sluice.servicekit.database import Connection
from wms.db.tasks.tasks import stored_tasks


@dataclass(frozen=True, slots=True)
class KnownTask:
    """A task's description, prepared for use.

    Attributes:
        outputs: Outputs by port.
        for_pilots: A ``PilotTask`` as JSON for pilots, without defaults.
    """

    task: Task
    outputs: dict[str, TaskOutput]
    for_pilots: bytes

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
        self._known: OrderedDict[UUID, KnownTask] = OrderedDict()

    async def get(self, connection: Connection, uids: Iterable[UUID]) -> dict[UUID, KnownTask]:
        """Return those of ``uids`` that are stored."""
        wanted = set(uids)
        found = {uid: self._known[uid] for uid in wanted if uid in self._known}
        missing = list(wanted - found.keys())
        if missing:
            for stored in await stored_tasks(connection, missing):
                found[stored.uid] = known_task(stored)
        for uid, task in found.items():
            self._known[uid] = task
            self._known.move_to_end(uid)
        while len(self._known) > self._limit:
            self._known.popitem(last=False)
        return found


def known_task(task: Task) -> KnownTask:
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
        bundles=_bundles(task),
        batch=task.batch,
        outputs=task.outputs,
        log_out_uid=task.log_out_uid,
        log_out_url=task.log_out_url,
        needs=task.needs,
    )
    return KnownTask(
        task,
        {output.port: output for output in task.outputs},
        orjson.dumps(pilot_task.model_dump(mode="json", exclude_defaults=True)),
    )


def _bundles(task: Task) -> list[BundlePort]:
    return [
        BundlePort(port=given.port, whole=given.mode is InputMode.ALL)
        for given in task.inputs
        if given.kind is EntryKind.BUNDLE
    ]
