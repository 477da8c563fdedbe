"""The process of one slot, which receives jobs over its connection and runs one at a time."""

import os
import queue
import signal
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn
from uuid import UUID

import structlog

from pilot.folders.run_folder import RunFolder
from pilot.reports.journal import Journal
from pilot.runner.attempts.attempt import AttemptRun
from pilot.runner.attempts.context import SlotContext, list_long_lived_children
from pilot.runner.attempts.live_log import LiveLogs
from pilot.runner.attempts.slot_warm_worker import SlotWarmWorker
from pilot.runner.containers.containers import Containers
from pilot.runner.containers.options import isolation_options
from pilot.runner.files.asset_cache import AssetCache
from pilot.runner.files.shared_inputs import SharedFiles
from pilot.runner.isolation.isolation import choose_isolation, find_process_limit
from pilot.runner.programs.control import SlotControl
from pilot.runner.programs.memory import create_memory
from pilot.runner.programs.orphans import adopt_orphans
from pilot.runner.programs.slot_group import SlotGroup
from pilot.runner.programs.zygote import Zygote
from pilot.runner.progress_file import ProgressFile
from pilot.runner.protocol import (
    EndedFrame,
    ForgetFrame,
    JobFrame,
    ReadyFrame,
    RunnerSettings,
    TaskFrame,
    UnloadedFrame,
    UnloadFrame,
    encode_frame,
)
from pilot.runner.signals import disable_termination_signals
from pilot.runner.tools.loading import Executable, load_executable
from sluice.contracts.pilots.leases import PilotTask
from sluice.servicekit.running.logging import log_ids

log = structlog.get_logger(__name__)


class SlotProcess:
    """The process of a slot.

    ``number`` is the number of the slot. A process that replaces a lost one has the same number.
    """

    def __init__(self, connection: socket.socket, settings: RunnerSettings, number: int) -> None:
        self._connection = connection
        self._settings = settings
        self._number = number
        self._tasks: dict[UUID, PilotTask] = {}
        self._tools: dict[UUID, Executable] = {}

    def serve(self) -> None:
        """Run jobs until the pilot closes the connection, which ends this process."""
        disable_termination_signals()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        adopt_orphans()
        # Processes that exist before would not move to the group.
        memory = create_memory(self._settings.memory_groups)
        max_processes = find_process_limit(self._settings, self._number)
        group = SlotGroup(self._settings.memory_groups, max_processes)
        zygote = Zygote()
        isolation = choose_isolation(self._settings, self._number)
        control = SlotControl(self._connection)
        live_logs = LiveLogs(self._settings.live_logs)
        run = RunFolder(Path(self._settings.run_folder))
        folder = run.work_folder(os.getpid(), isolation.user)
        context = SlotContext(
            settings=self._settings,
            folder=folder,
            warm_worker=SlotWarmWorker(folder, isolation),
            journal=Journal(run.journals, f"slot-{os.getpid()}"),
            control=control,
            zygote=zygote,
            shared=SharedFiles(run.shared_folder(os.getpid()), self._create_asset_cache()),
            progress=ProgressFile(run.phase_file(os.getpid())),
            containers=self._create_containers(
                control, partial(list_long_lived_children, zygote, isolation)
            ),
            live=live_logs,
            memory=memory,
            group=group,
            isolation=isolation,
        )
        if context.containers is not None:
            control.on_disconnect = partial(context.containers.remove, None)
        control.start()
        with live_logs:
            self._connection.sendall(encode_frame(ReadyFrame(pid=os.getpid())))
            self._receive_frames(context)

    def _receive_frames(self, context: SlotContext) -> NoReturn:
        while True:
            match self._next_frame(context):
                case None | UnloadFrame():
                    context.warm_worker.end()
                    self._connection.sendall(encode_frame(UnloadedFrame()))
                case TaskFrame(task=task):
                    self._tasks[task.uid] = task
                case ForgetFrame(uid=uid):
                    self._tasks.pop(uid, None)
                    self._tools.pop(uid, None)
                    context.shared.forget(uid)
                case JobFrame() as frame:
                    self._connection.sendall(encode_frame(self._run(frame, context)))

    def _next_frame(
        self, context: SlotContext
    ) -> TaskFrame | ForgetFrame | JobFrame | UnloadFrame | None:
        """Return the next frame, or None if the warm worker has been idle for too long."""
        try:
            return context.control.frames.get(timeout=context.warm_worker.compute_idle_timeout())
        except queue.Empty:
            return None

    def _create_asset_cache(self) -> AssetCache | None:
        max_bytes = self._settings.asset_cache
        return AssetCache(self._settings.assets, max_bytes) if max_bytes else None

    def _create_containers(
        self, control: SlotControl, list_others: Callable[[], frozenset[int]]
    ) -> Containers | None:
        settings = self._settings
        if settings.engine is None:
            return None
        return Containers(
            settings.engine,
            images=Path(settings.images),
            run=Path(settings.run_folder).name,
            control=control,
            list_others=list_others,
            isolation_options=[]
            if settings.sandbox is None
            else isolation_options(settings.engine, settings.sandbox),
        )

    def _run(self, frame: JobFrame, context: SlotContext) -> EndedFrame:
        job = frame.job
        task = self._tasks[job.task_uid]
        with log_ids(chain=task.chain_uid, task=task.uid, job=job.id, attempt=job.attempt):
            ended = AttemptRun(task, frame, context).run(self._loader(task, context))
            report = ended.report
            log.debug(
                "attempt.ended",
                outcome=report.outcome,
                error_class=report.error_class,
                seconds=round(ended.seconds, 4),
            )
            return ended

    def _loader(self, task: PilotTask, context: SlotContext) -> Callable[[], Executable]:
        def load_tool() -> Executable:
            tool = self._tools.get(task.uid)
            if tool is None:
                tool = self._tools[task.uid] = load_executable(
                    task,
                    str(RunFolder(Path(self._settings.run_folder)).documents),
                    context.containers,
                )
            return tool

        return load_tool
