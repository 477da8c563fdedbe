"""Use of containers by one job."""

from dataclasses import dataclass, replace

from pilot.runner.containers.containers import Containers
from pilot.runner.programs.orphans import kill_orphans, list_children
from pilot.runner.programs.program import KillReason, ProgramEnd

#: Exit statuses of the engine itself: it failed, or could not start the container or its program.
_ENGINE_FAILED, _NOT_STARTED = 125, 126
#: Exit status of a killed process, as the kernel's out-of-memory killer causes it.
_KILLED = 137


@dataclass(slots=True)
class ContainerRun:
    """Use of containers by one job.

    Attributes:
        name: The job's only container, or None if the job starts containers itself.
        failed: Whether the engine failed and not the tool. It is set by ``explain_end``.
    """

    containers: Containers
    name: str | None
    failed: bool = False

    @property
    def engine_limits_memory(self) -> bool:
        """Return whether the engine limits the memory.

        The tool's processes are not descendants of this process then.
        """
        return self.name is not None and self.containers.engine.runs_outside

    def list_others(self) -> frozenset[int]:
        """Return the pids of the processes that must not be killed as orphans of the job.

        Helpers of the engine end with the container.
        """
        return (
            frozenset(list_children())
            if self.containers.engine.runs_outside
            else self.containers.list_others()
        )

    def explain_end(self, end: ProgramEnd) -> ProgramEnd:
        """Return the end of the program with what the engine knows about it.

        Raises:
            AttemptError: The engine does not answer.
        """
        if not self.engine_limits_memory:
            return end
        code = end.exit_code
        self.failed = code == _ENGINE_FAILED or (
            code == _NOT_STARTED and not self.containers.was_started(self.name or "")
        )
        # The measured process is the engine's client and not the tool.
        end = replace(end, memory=None, cpu=None)
        if end.kill_reason is None and self._ran_out_of_memory(end.exit_code):
            return replace(end, kill_reason=KillReason.MEMORY, memory=float(self.containers.memory))
        return end

    def _ran_out_of_memory(self, exit_code: int) -> bool:
        limited = self.containers.memory > 0 and self.containers.engine.limits_memory
        if not limited or exit_code == 0 or self.name is None:
            return False
        return exit_code == _KILLED or self.containers.ran_out_of_memory(self.name)

    def end(self) -> None:
        """Remove the job's containers and kill its orphans."""
        self.containers.remove(self.name)
        kill_orphans(self.containers.list_others())
