"""Verdict on a run of a tool: success, or a failure with its class and a sentence."""

import os
import re
from dataclasses import dataclass
from typing import assert_never

from pilot.folders.disk_space import has_room
from pilot.runner.attempts.limit_hints import KernelRefusals
from pilot.runner.attempts.memory_limit import MemoryLimit
from pilot.runner.failures import AttemptError, StoppedError
from pilot.runner.inner_workflow.failures import read_failure
from pilot.runner.programs.exit_messages import ended_badly, last_line
from pilot.runner.programs.memory import Memory
from pilot.runner.programs.program import KillReason, ProgramEnd
from pilot.runner.redaction import NOTHING, Redaction
from pilot.runner.tools.loading import Loaded
from pilot.runner.tools.prepared_job import PreparedJob
from sluice.contracts.common.numbers import in_full
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.jobs.needs import Resources

#: Last words of programs that were refused memory on a GPU: torch, tensorflow, CUDA.
_GPU_FULL = re.compile(
    r"CUDA(?: error:)? out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation"
    r"|OOM when allocating|_ALLOC_FAILED|OutOfMemoryError"
)


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges the runs of an attempt's tool by their exit codes and limits.

    ``has_gpu`` is also true for a part of a GPU.
    """

    resources: Resources
    memory_limit: MemoryLimit
    memory: Memory
    refused: KernelRefusals
    redaction: Redaction = NOTHING
    has_gpu: bool = False

    def require_success(
        self, tool: Loaded, prepared: PreparedJob, end: ProgramEnd, *, stderr: int
    ) -> None:
        """Check that the tool has succeeded.

        ``stderr`` is a descriptor of its standard error.

        Raises:
            AttemptError: The tool has failed.
            StoppedError: The tool was stopped.
        """
        self._require_not_cut(end)
        code = end.exit_code
        inner = read_failure(prepared.failure) if prepared.failure and code == 1 else None
        error_class = tool.error_class(code) if inner is None else inner.error_class
        if error_class is None:
            return
        if error_class is ErrorClass.TOOL_FAILED and not has_room(prepared.job_files.folder):
            error_class = ErrorClass.NO_ROOM
        if inner is not None:
            raise AttemptError(
                error_class,
                self._with_limit(error_class, prepared, code, inner.message),
                exit_code=code if inner.exit_code is None else inner.exit_code,
            )
        raise self._failure(error_class, prepared, end, last_line(stderr, hide=self.redaction))

    def _require_not_cut(self, end: ProgramEnd) -> None:
        """Check that the tool ended by itself, so that its exit code counts.

        Raises:
            AttemptError: The tool exceeded a limit.
            StoppedError: The tool was stopped.
        """
        match end.cut:
            case None:
                return
            case KillReason.STOPPED:
                raise StoppedError
            case KillReason.TIME:
                error_class = ErrorClass.TOOL_TIMEOUT
                limit = in_full(self.resources.time_limit)
                sentence = f"ran longer than its limit of {limit} s (ToolTimeLimit) and was ended"
            case KillReason.MEMORY:
                error_class = ErrorClass.OUT_OF_MEMORY
                sentence = (
                    f"used {end.memory or 0:.0f} MiB of memory, {self.memory_limit.note}, and was"
                    " ended"
                )
            case KillReason.NODE_MEMORY:
                within = end.memory is None or end.memory <= self.memory_limit.counted
                error_class = ErrorClass.PILOT_LOST if within else ErrorClass.OUT_OF_MEMORY
                sentence = (
                    "was ended by the kernel: the node had no memory left, of which it used"
                    f" {end.memory or 0:.0f} MiB, {self.memory_limit.note}"
                )
            case KillReason.DISK:
                error_class = ErrorClass.TOOL_FAILED
                sentence = (
                    f"filled its folder: it may write {self.resources.disk} MiB (tmpdirMin and"
                    " outdirMin)"
                )
            case _:
                assert_never(end.cut)
        raise AttemptError(error_class, sentence, exit_code=end.exit_code)

    def _failure(
        self, error_class: ErrorClass, prepared: PreparedJob, end: ProgramEnd, said: str
    ) -> AttemptError:
        """Return the failure of a tool.

        ``said`` is the last line of its standard error.
        """
        code = end.exit_code
        if prepared.container is not None and prepared.container.failed:
            prepared.container.containers.images.forget()
            sentence = f"the container could not be started: {said}"
            return AttemptError(ErrorClass.STAGE_IN_FAILED, sentence, exit_code=code)
        program = prepared.program or os.path.basename(prepared.arguments[0])
        sentence = ended_badly(program, code, said=said)
        if error_class is ErrorClass.TOOL_FAILED and self.has_gpu and _GPU_FULL.search(said):
            sentence = f"{sentence} (its GPU had no memory left)"
            error_class = ErrorClass.OUT_OF_MEMORY
            return AttemptError(error_class, sentence, exit_code=code, gpu_full=True)
        if (
            error_class is ErrorClass.TOOL_FAILED
            and prepared.container is None
            and self.memory.refused(said)
        ):
            used = f", and had used {end.memory:.0f} MiB" if end.memory is not None else ""
            limit = f"it may use {self.memory_limit.most:.0f} MiB of memory (ramMin){used}"
            error_class, sentence = ErrorClass.OUT_OF_MEMORY, f"{sentence} ({limit})"
        else:
            sentence = self._with_limit(error_class, prepared, code, sentence)
        return AttemptError(error_class, sentence, exit_code=code)

    def _with_limit(
        self, error_class: ErrorClass, prepared: PreparedJob, code: int, sentence: str
    ) -> str:
        """Add a hint to a sentence about a failure, if the tool may have met a limit.

        Limits of containers belong to their engine.
        """
        others = prepared.container is not None or error_class is ErrorClass.NO_ROOM
        hint = "" if others else self.refused.hint(code, sentence)
        if not hint and error_class is not ErrorClass.NO_ROOM and not prepared.network:
            in_container = prepared.container is not None
            hint = self.refused.network_hint(sentence, container=in_container)
        return f"{sentence} ({hint})" if hint else sentence
