"""What a slot keeps its tools in, where no engine of containers does: decided here, once."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pilot.folders.run_folder import RunFolder
from pilot.runner.containment.folders import hand_over
from pilot.runner.containment.job_view import job_view, shared_memory_of
from pilot.runner.inner_workflow.sandbox import InnerSandbox
from pilot.runner.inner_workflow.walls import InnerWalls
from pilot.runner.programs.lasting_child import LastingChild
from pilot.runner.programs.oom_priority import children_go_first
from pilot.runner.programs.program import Program, Start, as_child, start_child
from pilot.runner.programs.running import Child, Running
from pilot.runner.programs.warm_request import Lasting, StartLasting
from pilot.runner.protocol import RunnerSettings
from pilot.runner.tools.prepared_job import PreparedJob
from pilot.sandbox.held_sandbox import Sandboxes
from pilot.sandbox.lasting_program import LastingProgram
from pilot.sandbox.process_limits import ProcessLimits
from pilot.sandbox.sandbox import Extras, Sandbox
from pilot.users.programs import UserPrograms
from pilot.users.slot_user import SlotUser

_MIB = 1 << 20

#: Pids of a slot's children that are not of a program.
Known = Callable[[], frozenset[int]]


@dataclass(frozen=True, slots=True)
class Allotment:
    """What a job's tools may have. ``memory``: MiB; 0: any. ``devices``: files of its GPUs."""

    memory: float
    devices: tuple[str, ...] = ()


class Containment(ABC):
    """Of the tools of a slot, one after the other. ``no_sandbox``: why it is not the pilot's
    sandbox; empty: it is. ``limits``: that it keeps for all tools."""

    #: That tools run as; None: this process's.
    user: SlotUser | None = None

    def __init__(self, no_sandbox: str, limits: ProcessLimits) -> None:
        self.no_sandbox = no_sandbox
        self.limits = limits

    @property
    @abstractmethod
    def pids(self) -> frozenset[int]:
        """Of this process's children that belong to it."""

    @abstractmethod
    def reach(self, prepared: PreparedJob) -> list[str]:
        """What the tool can reach that it should not, for the job's log: a line each."""

    @abstractmethod
    def shared_memory(self, memory: float) -> float:
        """MiB of a tool that may use ``memory`` MiB (0: any); 0: as much as the node has."""

    @abstractmethod
    def hand_over(self, prepared: PreparedJob) -> None:
        """The job's folders, to who runs its tool. Raises ``OSError``."""

    @abstractmethod
    def hand_over_stream(self, descriptor: int) -> None:
        """That the tool writes to. Raises ``OSError``."""

    @abstractmethod
    def start(self, prepared: PreparedJob, allotted: Allotment, known: Known) -> Start:
        """What it gives raises ``SandboxError`` and ``UserError`` as well."""

    @abstractmethod
    def start_lasting(
        self, prepared: PreparedJob, allotted: Allotment, known: Known
    ) -> StartLasting:
        """As ``start``, for a program that stays, of which there is one at a time. Its ``stdin`` is
        a descriptor."""

    @abstractmethod
    def inner(self, prepared: PreparedJob, allotted: Allotment) -> InnerWalls:
        """For the tools of a workflow inside the job."""

    @abstractmethod
    def tidy_up(self) -> None:
        """After each tool. Raises ``UserError``."""


def _descriptor(program: Program) -> int:
    if not isinstance(program.stdin, int):
        raise TypeError("a program that stays reads from a pipe")
    return program.stdin


def containment_of(settings: RunnerSettings, number: int) -> Containment:
    """``number``: of the slot."""
    if settings.sandbox is not None:
        return _InSandbox(settings.sandbox, RunFolder(Path(settings.run_folder)).job_sources())
    if settings.users:
        return _AsUser(settings.users[number], settings.no_sandbox)
    return _InTheOpen(settings.no_sandbox or "the pilot has looked for none", ProcessLimits())


def most_processes(settings: RunnerSettings, number: int) -> int | None:
    """That the tools of slot ``number`` may have together; None: any number."""
    if settings.sandbox is not None:
        return settings.sandbox.processes
    return settings.users[number].processes if settings.users else None


class _InTheOpen(Containment):
    """With the rights of the pilot's user."""

    @property
    def pids(self) -> frozenset[int]:
        return frozenset()

    def reach(self, prepared: PreparedJob) -> list[str]:
        return [f"no sandbox: {self.no_sandbox}; it had the rights of the pilot's user"]

    def shared_memory(self, memory: float) -> float:
        return 0.0

    def hand_over(self, prepared: PreparedJob) -> None:
        """It has them."""

    def hand_over_stream(self, descriptor: int) -> None:
        """It has it."""

    def start(self, prepared: PreparedJob, allotted: Allotment, known: Known) -> Start:
        return as_child(known)

    def start_lasting(
        self, prepared: PreparedJob, allotted: Allotment, known: Known
    ) -> StartLasting:
        return lambda program, limits: LastingChild(start_child(program), known, limits)

    def inner(self, prepared: PreparedJob, allotted: Allotment) -> InnerWalls:
        return InnerWalls()

    def tidy_up(self) -> None:
        """Nobody knows what it has left."""


class _InSandbox(Containment):
    """The node's. ``sources``: folders that jobs get files from."""

    def __init__(self, sandbox: Sandbox, sources: list[str]) -> None:
        super().__init__("", sandbox.limits)
        self._sandbox = sandbox
        self._sources = sources
        self._held = Sandboxes(sandbox, sources)
        self._lasting: LastingProgram | None = None

    @property
    def pids(self) -> frozenset[int]:
        lasting = self._lasting
        return self._held.pids | (frozenset() if lasting is None else lasting.pids)

    def reach(self, prepared: PreparedJob) -> list[str]:
        own = self._sandbox.network is None and self._sandbox.node_network
        if not prepared.network or not own:
            return []
        return [f"network: the node's own, as {self._sandbox.no_network}"]

    def shared_memory(self, memory: float) -> float:
        return shared_memory_of(memory) / _MIB

    def hand_over(self, prepared: PreparedJob) -> None:
        """It sees them."""

    def hand_over_stream(self, descriptor: int) -> None:
        """It gets it as it starts."""

    def start(self, prepared: PreparedJob, allotted: Allotment, known: Known) -> Start:
        sandbox = self._held.of(Extras(network=prepared.network, devices=allotted.devices))
        view = job_view(prepared, allotted.memory)

        def start(program: Program, limits: ProcessLimits) -> Running:
            # Its first one starts what holds the sandbox, of which they have their priority.
            with children_go_first():
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

    def start_lasting(
        self, prepared: PreparedJob, allotted: Allotment, known: Known
    ) -> StartLasting:
        gets = Extras(network=prepared.network, devices=allotted.devices)
        lasting = LastingProgram(self._sandbox, self._sources, gets, prepared.targets)
        self._lasting = lasting
        view = job_view(prepared, allotted.memory, elsewhere=False)

        def start(program: Program, limits: ProcessLimits) -> Lasting:
            with children_go_first():
                lasting.start(
                    program.arguments,
                    environment=program.environment,
                    folder=program.folder,
                    streams=[_descriptor(program), program.stdout, program.stderr],
                    limits=limits,
                    view=view,
                )
            return lasting

        return start

    def inner(self, prepared: PreparedJob, allotted: Allotment) -> InnerWalls:
        return InnerWalls(
            sandbox=InnerSandbox(
                sandbox=self._sandbox,
                targets=list(prepared.targets),
                in_place=prepared.in_place,
                devices=list(allotted.devices),
                shared_memory=shared_memory_of(allotted.memory),
            )
        )

    def tidy_up(self) -> None:
        """What holds it has done it."""


class _AsUser(Containment):
    """The slot's own. ``no_sandbox``: why not in one."""

    def __init__(self, user: SlotUser, no_sandbox: str) -> None:
        super().__init__(no_sandbox, user.limits)
        self.user: SlotUser = user
        self._programs = UserPrograms(user)
        with children_go_first():  # as what starts them does
            self._programs.tidy_up()  # those of a slot that was killed with its pilot

    @property
    def pids(self) -> frozenset[int]:
        return self._programs.pids

    def reach(self, prepared: PreparedJob) -> list[str]:
        return [
            f"contained by a user of its own only: {self.no_sandbox}; it had the rights of user"
            f" {self.user.name}, and the node's network"
        ]

    def shared_memory(self, memory: float) -> float:
        return 0.0

    def hand_over(self, prepared: PreparedJob) -> None:
        hand_over(prepared, self.user)

    def hand_over_stream(self, descriptor: int) -> None:
        # It can be opened by its own path, as by /dev/stderr.
        os.fchown(descriptor, self.user.uid, self.user.gid)

    def start(self, prepared: PreparedJob, allotted: Allotment, known: Known) -> Start:
        def start(program: Program, limits: ProcessLimits) -> Running:
            # They have their priority of what starts them, which may have to be started anew.
            with children_go_first(), open(os.devnull, "rb") as nothing:
                stdin = nothing if isinstance(program.stdin, int) else program.stdin
                pid = self._programs.start(
                    program.arguments,
                    environment=program.environment,
                    folder=program.folder,
                    streams=[stdin.fileno(), program.stdout, program.stderr],
                    limits=limits,
                )
            return Child(pid, known, ProcessLimits())

        return start

    def start_lasting(
        self, prepared: PreparedJob, allotted: Allotment, known: Known
    ) -> StartLasting:
        def start(program: Program, limits: ProcessLimits) -> Lasting:
            with children_go_first():
                pid = self._programs.start(
                    program.arguments,
                    environment=program.environment,
                    folder=program.folder,
                    streams=[_descriptor(program), program.stdout, program.stderr],
                    limits=limits,
                )
            return LastingChild(pid, known, ProcessLimits())

        return start

    def inner(self, prepared: PreparedJob, allotted: Allotment) -> InnerWalls:
        return InnerWalls(user=self.user)

    def tidy_up(self) -> None:
        self._programs.tidy_up()
