"""One job's use of containers, from its start to its end."""

from dataclasses import dataclass, replace

from pilot.runner.containers.containers import Containers
from pilot.runner.programs.orphans import children, kill_orphans
from pilot.runner.programs.program import CutReason, ProgramEnd

#: The engine's own exit statuses: it failed; it could not start the container, or the program in
#: it.
_ENGINE_FAILED, _NOT_STARTED = 125, 126
#: Of a shell whose child was killed, as the kernel does where memory runs out.
_KILLED = 137


@dataclass(slots=True)
class ContainerRun:
    """A job's use of containers. ``name``: of its only one; None: the job starts some itself.
    ``failed``: the engine did, not the tool; known once it was judged."""

    containers: Containers
    name: str | None
    failed: bool = False

    @property
    def own_limit(self) -> bool:
        """The engine looks after the memory, and the processes to look at are not below ours."""
        return self.name is not None and self.containers.engine.apart

    def known(self) -> frozenset[int]:
        """What is not to be killed as left behind by the job: the engine's own helpers go with the
        container."""
        return frozenset(children()) if self.containers.engine.apart else self.containers.spared()

    def judged(self, ended: ProgramEnd) -> ProgramEnd:
        """What the engine knows of the end. Raises ``AttemptError`` where it does not answer."""
        if not self.own_limit:
            return ended
        code = ended.exit_code
        self.failed = code == _ENGINE_FAILED or (
            code == _NOT_STARTED and not self.containers.was_started(self.name or "")
        )
        # What was measured is the engine's client, not the tool.
        ended = replace(ended, memory=None, cpu=None)
        if ended.cut is None and self._ran_out_of_memory(ended.exit_code):
            return replace(ended, cut=CutReason.MEMORY, memory=float(self.containers.memory))
        return ended

    def _ran_out_of_memory(self, exit_code: int) -> bool:
        limited = self.containers.memory > 0 and self.containers.engine.limits_memory
        if not limited or exit_code == 0 or self.name is None:
            return False
        return exit_code == _KILLED or self.containers.ran_out_of_memory(self.name)

    def end(self) -> None:
        """Nothing of it is left."""
        self.containers.remove(self.name)
        kill_orphans(self.containers.spared())
