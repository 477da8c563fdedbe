"""Verdict on a run of a tool: success, or a failure with its class and a sentence."""

import os
import re
from dataclasses import dataclass
from typing import assert_never

from pilot.folders.disk_space import has_space
from pilot.runner.attempts.limit_hints import KernelLimits
from pilot.runner.attempts.memory_limit import MemoryLimit
from pilot.runner.failures import AttemptError, AttemptStoppedError
from pilot.runner.inner_workflow.failures import read_failure
from pilot.runner.programs.exit_messages import describe_failure, last_line
from pilot.runner.programs.memory import Memory
from pilot.runner.programs.program import KillReason, ProgramEnd
from pilot.runner.redaction import NO_REDACTION, Redaction
from pilot.runner.tools.loading import Executable
from pilot.runner.tools.prepared_job import PreparedJob
from sluice.contracts.common.numbers import in_full
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.jobs.needs import Resources

#: Messages of programs whose GPU had no memory left: torch, tensorflow, CUDA.
_GPU_FULL = re.compile(
    r"CUDA(?: error:)? out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation"
    r"|OOM when allocating|_ALLOC_FAILED|OutOfMemoryError"
)


@dataclass(frozen=True, slots=True)
class ExitCheck:
    """Checks the runs of an attempt's tool by their exit codes and limits.

    Attributes:
        has_gpu: Whether the job has a GPU or a part of one.
    """

    resources: Resources
    memory_limit: MemoryLimit
    memory: Memory
    kernel_limits: KernelLimits
    redaction: Redaction = NO_REDACTION
    has_gpu: bool = False

    def require_success(
        self, tool: Executable, prepared_job: PreparedJob, end: ProgramEnd, *, stderr: int
    ) -> None:
        """Check that the tool has succeeded.

        ``stderr`` is a descriptor of its standard error.

        Raises:
            AttemptError: The tool has failed.
            AttemptStoppedError: The tool was stopped.
        """
        self._require_not_killed(prepared_job, end)
        code = end.exit_code
        inner = read_failure(prepared_job.failure) if prepared_job.failure and code == 1 else None
        error_class = tool.error_class(code) if inner is None else inner.error_class
        if error_class is None:
            return
        if error_class is ErrorClass.TOOL_FAILED and not has_space(prepared_job.job_files.folder):
            error_class = ErrorClass.NO_SPACE
        if inner is not None:
            raise AttemptError(
                error_class,
                self._add_limit_hint(error_class, prepared_job, code, inner.message),
                exit_code=code if inner.exit_code is None else inner.exit_code,
            )
        raise self._create_failure(
            error_class, prepared_job, end, last_line(stderr, redaction=self.redaction)
        )

    def _require_not_killed(self, prepared_job: PreparedJob, end: ProgramEnd) -> None:
        """Check that the tool ended by itself, so that its exit code counts.

        Raises:
            AttemptError: The tool exceeded a limit.
            AttemptStoppedError: The tool was stopped.
        """
        match end.kill_reason:
            case None:
                return
            case KillReason.STOPPED:
                raise AttemptStoppedError
            case KillReason.TIME:
                error_class = ErrorClass.TOOL_TIMEOUT
                limit = in_full(prepared_job.find_time_limit(self.resources))
                sentence = f"ran longer than its limit of {limit} s (ToolTimeLimit) and was ended"
            case KillReason.MEMORY:
                error_class = ErrorClass.OUT_OF_MEMORY
                sentence = (
                    f"used {end.memory or 0:.0f} MiB of memory, {self.memory_limit.note}, and was"
                    " ended"
                )
            case KillReason.NODE_MEMORY:
                within = end.memory is None or end.memory <= self.memory_limit.reservation
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
                assert_never(end.kill_reason)
        raise AttemptError(error_class, sentence, exit_code=end.exit_code)

    def _create_failure(
        self, error_class: ErrorClass, prepared_job: PreparedJob, end: ProgramEnd, last_output: str
    ) -> AttemptError:
        """Return the failure of a tool.

        ``last_output`` is the last line of its standard error.
        """
        code = end.exit_code
        if prepared_job.container is not None and prepared_job.container.failed:
            prepared_job.container.containers.images.forget()
            sentence = f"the container could not be started: {last_output}"
            return AttemptError(ErrorClass.STAGE_IN_FAILED, sentence, exit_code=code)
        program = prepared_job.program or os.path.basename(prepared_job.arguments[0])
        sentence = describe_failure(program, code, last_output=last_output)
        if error_class is ErrorClass.TOOL_FAILED and self.has_gpu and _GPU_FULL.search(last_output):
            sentence = f"{sentence} (its GPU had no memory left)"
            error_class = ErrorClass.OUT_OF_MEMORY
            return AttemptError(error_class, sentence, exit_code=code, gpu_full=True)
        if (
            error_class is ErrorClass.TOOL_FAILED
            and prepared_job.container is None
            and self.memory.was_refused(last_output)
        ):
            used = f", and had used {end.memory:.0f} MiB" if end.memory is not None else ""
            limit = f"it may use {self.memory_limit.maximum:.0f} MiB of memory (ramMin){used}"
            error_class, sentence = ErrorClass.OUT_OF_MEMORY, f"{sentence} ({limit})"
        else:
            sentence = self._add_limit_hint(error_class, prepared_job, code, sentence)
        return AttemptError(error_class, sentence, exit_code=code)

    def _add_limit_hint(
        self, error_class: ErrorClass, prepared_job: PreparedJob, code: int, sentence: str
    ) -> str:
        """Add a hint to a sentence about a failure, if the tool may have met a limit.

        Limits of containers belong to their engine.
        """
        is_other_limit = prepared_job.container is not None or error_class is ErrorClass.NO_SPACE
        hint = "" if is_other_limit else self.kernel_limits.create_hint(code, sentence)
        if not hint and error_class is not ErrorClass.NO_SPACE and not prepared_job.network:
            in_container = prepared_job.container is not None
            hint = self.kernel_limits.create_network_hint(sentence, container=in_container)
        return f"{sentence} ({hint})" if hint else sentence
