"""Isolation of a slot's tools outside containers, chosen once for each slot."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pilot.folders.run_folder import RunFolder
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox import Sandbox, SandboxOptions
from pilot.isolation.sandbox.sandbox_instance import Sandboxes
from pilot.isolation.sandbox.sandboxed_warm_worker import SandboxedWarmWorker
from pilot.isolation.users.programs import UserPrograms
from pilot.isolation.users.slot_user import SlotUser
from pilot.runner.inner_workflow.isolation import InnerIsolation
from pilot.runner.inner_workflow.sandbox import InnerSandbox
from pilot.runner.isolation.folders import hand_over
from pilot.runner.isolation.job_view import compute_shared_memory, create_job_view
from pilot.runner.programs.oom_priority import set_children_oom_priority
from pilot.runner.programs.program import Program, Start, start_as_child, start_child
from pilot.runner.programs.running import Child, RunningProgram
from pilot.runner.programs.warm_request import StartWarmWorker, WarmWorkerProgram
from pilot.runner.programs.warm_worker_child import WarmWorkerChild
from pilot.runner.protocol import RunnerSettings
from pilot.runner.tools.prepared_job import PreparedJob

_MIB = 1 << 20

#: Lists the pids of a slot's children that belong to no program.
ListOthers = Callable[[], frozenset[int]]


@dataclass(frozen=True, slots=True)
class ToolAllocation:
    """Memory and devices of a job's tools.

    Attributes:
        memory: MiB. 0 means that there is no limit.
        devices: The device files of its GPUs.
    """

    memory: float
    devices: tuple[str, ...] = ()


class Isolation(ABC):
    """Isolation of the tools of a slot.

    ``no_sandbox`` is the reason why it is not the pilot's sandbox, or empty. ``limits`` apply to
    all tools.
    """

    #: User that tools run as, or None for this process's user.
    user: SlotUser | None = None

    def __init__(self, no_sandbox: str, limits: ProcessLimits) -> None:
        self.no_sandbox = no_sandbox
        self.limits = limits

    @property
    @abstractmethod
    def pids(self) -> frozenset[int]:
        """Return the children of this process that belong to the isolation."""

    @abstractmethod
    def describe_gaps(self, prepared_job: PreparedJob) -> list[str]:
        """Return lines for the job's log on what the tool can reach but should not."""

    @abstractmethod
    def shared_memory(self, memory: float) -> float:
        """Return the limit of shared memory in MiB, or 0 for no limit.

        ``memory`` is the limit of the tool's memory in MiB, or 0.
        """

    @abstractmethod
    def hand_over(self, prepared_job: PreparedJob) -> None:
        """Give the user of the tool access to the job's folders.

        Raises:
            OSError: An owner or mode could not be changed.
        """

    @abstractmethod
    def hand_over_stream(self, descriptor: int) -> None:
        """Give the user of the tool access to a stream.

        Raises:
            OSError: The owner could not be changed.
        """

    @abstractmethod
    def start(
        self, prepared_job: PreparedJob, allocation: ToolAllocation, list_others: ListOthers
    ) -> Start:
        """Return a function that starts the tool.

        The function may raise ``SandboxError`` and ``SlotUserError``.
        """

    @abstractmethod
    def start_warm_worker(
        self, prepared_job: PreparedJob, allocation: ToolAllocation, list_others: ListOthers
    ) -> StartWarmWorker:
        """Return a function that starts a warm worker, of which there is one at a time.

        The standard input of the program must be a descriptor. Errors are those of ``start``.
        """

    @abstractmethod
    def create_inner(self, prepared_job: PreparedJob, allocation: ToolAllocation) -> InnerIsolation:
        """Return the isolation for tools of a workflow inside the job."""

    @abstractmethod
    def tidy_up(self) -> None:
        """Remove what a tool has left.

        Raises:
            SlotUserError: Processes of the user could not be ended.
        """


def _stdin_descriptor(program: Program) -> int:
    if not isinstance(program.stdin, int):
        raise TypeError("a program that stays reads from a pipe")
    return program.stdin


def choose_isolation(settings: RunnerSettings, number: int) -> Isolation:
    """Return the isolation of slot ``number``."""
    if settings.sandbox is not None:
        return _SandboxIsolation(
            settings.sandbox, RunFolder(Path(settings.run_folder)).job_sources()
        )
    if settings.users:
        return _UserIsolation(settings.users[number], settings.no_sandbox)
    return _NoIsolation(settings.no_sandbox or "the pilot has looked for none", ProcessLimits())


def find_process_limit(settings: RunnerSettings, number: int) -> int | None:
    """Return the maximum number of processes of a slot's tools, or None without a limit."""
    if settings.sandbox is not None:
        return settings.sandbox.processes
    return settings.users[number].processes if settings.users else None


class _NoIsolation(Isolation):
    """No isolation: tools have the rights of the pilot's user."""

    @property
    def pids(self) -> frozenset[int]:
        return frozenset()

    def describe_gaps(self, prepared_job: PreparedJob) -> list[str]:
        return [f"no sandbox: {self.no_sandbox}; it had the rights of the pilot's user"]

    def shared_memory(self, memory: float) -> float:
        return 0.0

    def hand_over(self, prepared_job: PreparedJob) -> None:
        """Do nothing: the tool's user owns the folders."""

    def hand_over_stream(self, descriptor: int) -> None:
        """Do nothing: the tool's user owns the stream."""

    def start(
        self, prepared_job: PreparedJob, allocation: ToolAllocation, list_others: ListOthers
    ) -> Start:
        return start_as_child(list_others)

    def start_warm_worker(
        self, prepared_job: PreparedJob, allocation: ToolAllocation, list_others: ListOthers
    ) -> StartWarmWorker:
        return lambda program, limits: WarmWorkerChild(start_child(program, limits), list_others)

    def create_inner(self, prepared_job: PreparedJob, allocation: ToolAllocation) -> InnerIsolation:
        return InnerIsolation()

    def tidy_up(self) -> None:
        """Do nothing: it is unknown what the tool has left."""


class _SandboxIsolation(Isolation):
    """Isolation by the node's sandbox.

    ``sources`` are folders that jobs get files from.
    """

    def __init__(self, sandbox: Sandbox, sources: list[str]) -> None:
        super().__init__("", sandbox.limits)
        self._sandbox = sandbox
        self._sources = sources
        self._sandboxes = Sandboxes(sandbox, sources)
        self._warm_worker: SandboxedWarmWorker | None = None

    @property
    def pids(self) -> frozenset[int]:
        warm_worker = self._warm_worker
        return self._sandboxes.pids | (frozenset() if warm_worker is None else warm_worker.pids)

    def describe_gaps(self, prepared_job: PreparedJob) -> list[str]:
        uses_node_network = self._sandbox.network is None and self._sandbox.node_network
        if not prepared_job.network or not uses_node_network:
            return []
        return [f"network: the node's own, as {self._sandbox.no_network}"]

    def shared_memory(self, memory: float) -> float:
        return compute_shared_memory(memory) / _MIB

    def hand_over(self, prepared_job: PreparedJob) -> None:
        """Do nothing: the sandbox shows the folders."""

    def hand_over_stream(self, descriptor: int) -> None:
        """Do nothing: the tool inherits the stream."""

    def start(
        self, prepared_job: PreparedJob, allocation: ToolAllocation, list_others: ListOthers
    ) -> Start:
        sandbox = self._sandboxes.get(
            SandboxOptions(network=prepared_job.network, devices=allocation.devices)
        )
        view = create_job_view(prepared_job, allocation.memory)

        def start(program: Program, limits: ProcessLimits) -> RunningProgram:
            # The first call starts the holder of the sandbox, and tools inherit its priority.
            with set_children_oom_priority():
                return sandbox.start(
                    program.arguments,
                    environment=program.environment,
                    folder=program.folder,
                    streams=[program.stdout, program.stderr],
                    limits=limits,
                    view=view,
                    stdin=program.stdin_path or os.devnull,
                )

        return start

    def start_warm_worker(
        self, prepared_job: PreparedJob, allocation: ToolAllocation, list_others: ListOthers
    ) -> StartWarmWorker:
        options = SandboxOptions(network=prepared_job.network, devices=allocation.devices)
        warm_worker = SandboxedWarmWorker(
            self._sandbox, self._sources, options, prepared_job.targets
        )
        self._warm_worker = warm_worker
        view = create_job_view(prepared_job, allocation.memory, with_link_targets=False)

        def start(program: Program, limits: ProcessLimits) -> WarmWorkerProgram:
            with set_children_oom_priority():
                warm_worker.start(
                    program.arguments,
                    environment=program.environment,
                    folder=program.folder,
                    streams=[_stdin_descriptor(program), program.stdout, program.stderr],
                    limits=limits,
                    view=view,
                )
            return warm_worker

        return start

    def create_inner(self, prepared_job: PreparedJob, allocation: ToolAllocation) -> InnerIsolation:
        return InnerIsolation(
            sandbox=InnerSandbox(
                sandbox=self._sandbox,
                targets=list(prepared_job.targets),
                in_place=prepared_job.in_place,
                devices=list(allocation.devices),
                shared_memory=compute_shared_memory(allocation.memory),
            )
        )

    def tidy_up(self) -> None:
        """Do nothing: the holder of the sandbox has tidied up."""


class _UserIsolation(Isolation):
    """Isolation by a user of the slot.

    ``no_sandbox`` is the reason why there is no sandbox.
    """

    def __init__(self, user: SlotUser, no_sandbox: str) -> None:
        super().__init__(no_sandbox, user.limits)
        self.user: SlotUser = user
        self._programs = UserPrograms(user)
        with set_children_oom_priority():  # Starting the launcher needs this priority too.
            self._programs.tidy_up()  # Processes of a slot that was killed with its pilot

    @property
    def pids(self) -> frozenset[int]:
        return self._programs.pids

    def describe_gaps(self, prepared_job: PreparedJob) -> list[str]:
        return [
            f"contained only by a separate user: {self.no_sandbox}; it had the rights of user"
            f" {self.user.name}, and the node's network"
        ]

    def shared_memory(self, memory: float) -> float:
        return 0.0

    def hand_over(self, prepared_job: PreparedJob) -> None:
        hand_over(prepared_job, self.user)

    def hand_over_stream(self, descriptor: int) -> None:
        # A tool may open it by its path, for example as /dev/stderr.
        os.fchown(descriptor, self.user.uid, self.user.gid)

    def start(
        self, prepared_job: PreparedJob, allocation: ToolAllocation, list_others: ListOthers
    ) -> Start:
        def start(program: Program, limits: ProcessLimits) -> RunningProgram:
            # Tools inherit the priority of their launcher, which may have to be restarted.
            with set_children_oom_priority(), open(os.devnull, "rb") as devnull:
                stdin = devnull if isinstance(program.stdin, int) else program.stdin
                pid = self._programs.start(
                    program.arguments,
                    environment=program.environment,
                    folder=program.folder,
                    streams=[stdin.fileno(), program.stdout, program.stderr],
                    limits=limits,
                )
            return Child(pid, list_others)

        return start

    def start_warm_worker(
        self, prepared_job: PreparedJob, allocation: ToolAllocation, list_others: ListOthers
    ) -> StartWarmWorker:
        def start(program: Program, limits: ProcessLimits) -> WarmWorkerProgram:
            with set_children_oom_priority():
                pid = self._programs.start(
                    program.arguments,
                    environment=program.environment,
                    folder=program.folder,
                    streams=[_stdin_descriptor(program), program.stdout, program.stderr],
                    limits=limits,
                )
            return WarmWorkerChild(pid, list_others)

        return start

    def create_inner(self, prepared_job: PreparedJob, allocation: ToolAllocation) -> InnerIsolation:
        return InnerIsolation(user=self.user)

    def tidy_up(self) -> None:
        self._programs.tidy_up()
