"""The reason why a workflow inside a job failed.

The reason is the first failure of its tools, described like the failure of a job.
"""

import logging
import os
import sys
from typing import Any

from cwltool.errors import WorkflowException
from pydantic import ValidationError

from pilot.runner.cwl.cwltool_messages import clean_message, describe_missing_output
from pilot.runner.failures import AttemptError
from pilot.runner.files.access_errors import (
    create_refusal_error,
    create_setup_error,
    find_refusal,
    silence_tracebacks,
)
from pilot.runner.files.job_files import ForeignFileError, JobFiles
from pilot.runner.programs.exit_messages import (
    describe_failure,
    describe_missing_program,
    last_line,
)
from pilot.runner.redaction import NO_REDACTION, Redaction
from sluice.contracts.common.base import Contract
from sluice.contracts.common.numbers import in_full
from sluice.contracts.common.states import ErrorClass
from sluice.cwl_values.cwltool_exceptions import explain_exception
from sluice.text.visible_text import quoted

_STDERR = 2
#: Starts of cwltool's messages about outputs, steps that cannot start, time limits, expressions and
#: missing programs.
_OUTPUTS, _NO_JOB, _NO_STEP, _SLOW = (
    "[job %s] Job error:",
    "[%s] Cannot make job:",
    "Exception on step '%s'",
    "[job %s] exceeded time limit",
)
_EXPRESSION, _NO_PROGRAM = "Failed to evaluate expression", "'%s' not found"


class InnerFailure(Contract):
    """A failure inside a job.

    Attributes:
        exit_code: The exit code of the tool, or None if no tool failed.
    """

    error_class: ErrorClass
    message: str
    exit_code: int | None = None


def read_failure(path: str) -> InnerFailure | None:
    """Return the recorded failure, or None."""
    try:
        with open(path) as file:
            return InnerFailure.model_validate_json(file.read())
    except (OSError, ValidationError):
        return None


class FailureWatch(logging.Handler):
    """Logging handler that writes the first failure to ``path``.

    ``several`` says that there are several steps, so the message names the step that failed. Tools
    and cwltool write to the same standard error. The times of writing distinguish their lines.
    """

    def __init__(
        self, path: str, job_files: JobFiles, *, several: bool, redaction: Redaction = NO_REDACTION
    ) -> None:
        super().__init__()
        self._redaction = redaction
        self._path = path
        self._job_files = job_files
        self._several = several
        self._is_recorded = False
        self._written_size = 0
        self._output_range: tuple[int, int] | None = None
        self._slow = False

    def install(self) -> None:
        """Add this object as the last logging handler and as a filter before all handlers."""
        silence_tracebacks()
        logging.getLogger("cwltool").addFilter(self._update_output_range)
        logging.getLogger().addHandler(self)

    def wrap_job(self, kind: Any) -> Any:
        """Return a subclass of a kind of cwltool's jobs that is watched."""
        watch = self

        class Job(kind):  # type: ignore[misc] # cwltool's types are not followed
            def run(self, context: Any, tmpdir_lock: Any = None) -> None:
                job: Any = self
                collect = job.collect_outputs

                def collect_and_record(outdir: str, code: int) -> Any:
                    watch._record_end(job, code)
                    try:
                        return collect(outdir, code)
                    except WorkflowException as error:
                        watch._record_refusal(job, error)
                        raise

                job.collect_outputs = collect_and_record
                watch._reset()
                super().run(context, tmpdir_lock)

            def _execute(self, *arguments: Any, **options: Any) -> None:
                """Create the stream files first, as cwltool would follow a link in their places."""
                job: Any = self
                for name in filter(None, (job.stdout, job.stderr)):
                    watch._create_stream(os.path.join(job.base_path_logs, name))
                super()._execute(*arguments, **options)

        return Job

    def emit(self, record: logging.LogRecord) -> None:
        """Record the failure that a message of cwltool describes."""
        template = str(record.msg)
        if template.startswith(_SLOW):
            self._slow = True
        elif record.levelno >= logging.ERROR or template.startswith(_EXPRESSION):
            self._record(_find_step(template, record), _create_error(template, record))
        self._written_size = _stderr_size()

    def record_failure(self, error: AttemptError) -> None:
        """Record a failure of the whole process that cwltool does not report."""
        self._record("", error)

    def _update_output_range(self, record: logging.LogRecord) -> bool:
        size = _stderr_size()
        if size > self._written_size:
            self._output_range = (self._written_size, size)
        return True

    def _reset(self) -> None:
        self._output_range, self._slow, self._written_size = None, False, _stderr_size()

    def _create_stream(self, path: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(self._job_files.create(path))

    def _record_refusal(self, job: Any, error: WorkflowException) -> None:
        refusal = find_refusal(error)
        if refusal is not None:
            self._record(job.name, create_refusal_error(refusal))

    def _record_end(self, job: Any, code: int) -> None:
        """Record the failure of a tool.

        cwltool has already logged the end of a failed tool.
        """
        if code in job.successCodes or (
            code == 0 and code not in {*job.temporaryFailCodes, *job.permanentFailCodes}
        ):
            return
        if self._slow:
            sentence = f"ran longer than its limit of {in_full(job.timelimit)} s and was ended"
            self._record(job.name, AttemptError(ErrorClass.TOOL_TIMEOUT, sentence, exit_code=code))
            return
        error_class = (
            ErrorClass.TOOL_REFUSED if code in job.permanentFailCodes else ErrorClass.TOOL_FAILED
        )
        path = os.path.join(job.base_path_logs, job.stderr) if job.stderr else None
        program = os.path.basename(str(job.command_line[0]))
        sentence = describe_failure(program, code, last_output=self._read_last_line(path))
        self._record(job.name, AttemptError(error_class, sentence, exit_code=code))

    def _read_last_line(self, path: str | None) -> str:
        """Return the last line of the tool's standard error.

        ``path`` is its file, or None for the standard error of this process.
        """
        if path is None and not self._output_range:
            return ""
        try:
            file = (
                os.open(f"/proc/self/fd/{_STDERR}", os.O_RDONLY)
                if path is None
                else self._job_files.open(path)
            )
        except (OSError, ForeignFileError):
            return ""
        try:
            place = (self._output_range or ()) if path is None else ()
            return last_line(file, *place, redaction=self._redaction)
        finally:
            os.close(file)

    def _record(self, step: str, error: AttemptError) -> None:
        """Write the first failure.

        ``step`` is the name of the step, or empty if it is not known.
        """
        if self._is_recorded:
            return
        self._is_recorded = True
        message = (
            f"step {quoted(step)}: {error.message}" if step and self._several else error.message
        )
        failure = InnerFailure(
            error_class=error.error_class, message=message[:3000], exit_code=error.exit_code
        )
        with open(self._path, "w") as file:
            file.write(failure.model_dump_json())


def _find_step(template: str, record: logging.LogRecord) -> str:
    """Return the step that a message of cwltool is about, or an empty string."""
    arguments = _find_arguments(template, record)
    return str(arguments[0]).removeprefix("step ") if arguments else ""


def _find_arguments(template: str, record: logging.LogRecord) -> tuple[object, ...]:
    """Return the arguments of a message of cwltool: the step first and the reason last.

    The reason of a step's exception is the exception, which cwltool handles while it logs.
    """
    starts = (_OUTPUTS, _NO_JOB, _NO_STEP)
    if not template.startswith(starts) or not isinstance(record.args, tuple):
        return ()
    return (*record.args, sys.exception()) if template.startswith(_NO_STEP) else record.args


def _create_error(template: str, record: logging.LogRecord) -> AttemptError:
    """Return the failure that a message of cwltool describes, as an attempt would report it."""
    refusal = find_refusal(sys.exception())
    if refusal is not None:
        error = (
            create_refusal_error(refusal) if refusal.left_by_tool else create_setup_error(refusal)
        )
    elif template.startswith((_NO_JOB, _NO_STEP)):
        error = create_setup_error(clean_message(_find_reason(template, record)))
    elif template.startswith(_OUTPUTS):
        sentence = describe_missing_output(_find_reason(template, record))
        error = AttemptError(ErrorClass.TOOL_FAILED, sentence)
    elif template.startswith(_NO_PROGRAM) and isinstance(record.args, tuple):
        program = str(record.args[0])
        error = AttemptError(
            ErrorClass.TOOL_FAILED, describe_missing_program(program), exit_code=127
        )
    elif (reason := explain_exception(sys.exception())) is not None:
        error = AttemptError(ErrorClass.TOOL_REFUSED, reason)
    else:
        cause = f": {record.exc_info[1]}" if record.exc_info else ""
        sentence = clean_message(record.getMessage() + cause)
        error = AttemptError(ErrorClass.TOOL_FAILED, sentence)
    return error


def _find_reason(template: str, record: logging.LogRecord) -> str:
    return str((_find_arguments(template, record) or ("",))[-1])


def _stderr_size() -> int:
    """Return the size of the standard error in bytes."""
    return os.fstat(_STDERR).st_size
