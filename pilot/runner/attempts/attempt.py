"""Run of one attempt: stage in, prepare, run, check, collect, stage out and report."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import structlog

from pilot.domain.model import StopReason, Token
from pilot.folders.work_folder import IN
from pilot.runner.attempts.checkpoints import Checkpoints
from pilot.runner.attempts.context import SlotContext
from pilot.runner.attempts.entries import JobEntry, combine_runs, job_entries, move_aside
from pilot.runner.attempts.execution import Execution
from pilot.runner.attempts.job_log import AttemptRecord, write_log
from pilot.runner.attempts.limit_hints import KernelLimits
from pilot.runner.attempts.memory_limit import choose_memory_limit
from pilot.runner.attempts.report import FINISHED, STOPPED, AttemptResult, create_report
from pilot.runner.attempts.spent_amounts import ToolAmounts
from pilot.runner.attempts.verdict import ExitCheck
from pilot.runner.attempts.warm_inputs import add_inputs
from pilot.runner.failures import AttemptError, AttemptStoppedError, node_error
from pilot.runner.files.input_protection import ProtectedInputs
from pilot.runner.files.job_files import JobFiles
from pilot.runner.files.outputs import collect_files
from pilot.runner.files.staging import (
    ProducedFile,
    log_url,
    stage_in,
    stage_log,
    stage_out,
    total_size,
)
from pilot.runner.job_secrets import NO_SECRETS, JobSecrets
from pilot.runner.programs.program import KillReason, ProgramEnd, largest_file
from pilot.runner.programs.visible_gpus import gpu_environment
from pilot.runner.protocol import EndedFrame, JobFrame
from pilot.runner.tools.loading import Executable
from pilot.runner.tools.prepared_job import PreparedJob
from sluice.contracts.common.states import AttemptOutcome, AttemptPhase, ErrorClass
from sluice.contracts.pilots.leases import PilotTask
from sluice.contracts.pilots.output_files import LogFile, OutputFile
from sluice.contracts.pilots.reports import AttemptReport
from sluice.storage import StorageError
from sluice.text.os_errors import os_error_sentence, reason_of

log = structlog.get_logger(__name__)


class AttemptRun:
    """Runs one attempt once.

    Each result of the job becomes a report, unless this process ends.
    """

    def __init__(self, task: PilotTask, frame: JobFrame, context: SlotContext) -> None:
        self._task = task
        self._job = job = frame.job
        self._context = context
        self._secrets = (
            JobSecrets(task.needs.secrets, frame.secrets) if frame.secrets else NO_SECRETS
        )
        self._secrets_error = frame.trouble
        self._token: Token = (job.id, job.attempt)
        self._record = AttemptRecord(
            pilot=context.settings.pilot,
            started_at=datetime.now(UTC),
            redaction=self._secrets.redaction,
        )
        self._checkpoints = Checkpoints(
            task,
            job,
            limit=context.settings.checkpoint_limit,
            note=self._record.notes.append,
        )
        self._tool_amounts = ToolAmounts(task.needs.named, note=self._record.notes.append)
        self._memory_limit = choose_memory_limit(task, job, context.settings)
        self._gpus = frame.gpus
        self._execution = Execution(
            task,
            job,
            context,
            record=self._record,
            memory_limit=self._memory_limit,
            gpus=frame.gpus,
        )
        self._exit_check = ExitCheck(
            task.needs.resources,
            self._memory_limit,
            context.memory,
            self._create_kernel_limits(),
            self._secrets.redaction,
            has_gpu=task.needs.gpus is not None,
        )
        #: A container engine may see only the real name of the folder.
        self._plain_names = task.needs.container is None or context.containers is None
        #: All paths that the folders of the job have had.
        self._folders: set[str] = set()
        self._outputs: list[OutputFile] = []
        self._has_journaled_urls = False

    def _create_kernel_limits(self) -> KernelLimits:
        isolation, memory = self._context.isolation, self._memory_limit.maximum
        return KernelLimits(
            isolation.limits,
            largest_file=largest_file(self._task.needs.resources.disk, memory),
            shared_memory=isolation.shared_memory(memory),
        )

    def run(self, load: Callable[[], Executable]) -> EndedFrame:
        """Run the attempt and record its report in the journal.

        ``load`` returns the tool of the task. It loads the tool for the first job.
        """
        start_time = time.monotonic()
        self._context.control.begin(self._token)
        with self._execution:
            report = self._run_and_report(load)
        journal = self._journal_report(report)
        self._clear_folders()
        self._context.control.end(self._token)
        return EndedFrame(
            report=report,
            seconds=time.monotonic() - start_time,
            journal=journal,
            loaded=self._context.warm_worker.describe(),
        )

    def _run_and_report(self, load: Callable[[], Executable]) -> AttemptReport:
        try:
            self._run_entries(load())
            end = FINISHED
        except Exception as error:  # Process boundary: a job must not end its slot.
            end = self._convert_error(error)
        self._checkpoints.end(last=self._may_resume(end))
        return self._create_report(end)

    def _may_resume(self, end: AttemptResult) -> bool:
        """Return whether another attempt may resume from the checkpoint of this attempt."""
        is_over = end.outcome in (AttemptOutcome.FINISHED, AttemptOutcome.CANCELED)
        return not is_over and self._context.control.stop_reason(self._token) not in (
            StopReason.ABANDON,
            StopReason.CANCEL,
        )

    def _convert_error(self, error: Exception) -> AttemptResult:
        match error:
            case AttemptStoppedError():
                reason = self._context.control.stop_reason(self._token)
                return STOPPED[reason or StopReason.ABANDON]
            case AttemptError():
                return AttemptResult(
                    AttemptOutcome.FAILED,
                    error.error_class,
                    error.message,
                    error.exit_code,
                    error.gpu_full,
                    error.no_space,
                )
            case OSError():
                failure = node_error(error)
                return AttemptResult(AttemptOutcome.FAILED, failure.error_class, failure.message)
        log.error("attempt.unexpected", exc_info=error)
        sentence = f"unexpected error of the pilot, which its log shows: {reason_of(error)}"
        return AttemptResult(AttemptOutcome.FAILED, ErrorClass.INTERNAL, sentence)

    # --- the job ---

    def _run_entries(self, tool: Executable) -> None:
        """Run all entries and store their outputs, either all or none.

        Raises:
            AttemptError: The attempt has failed.
            AttemptStoppedError: The attempt was stopped.
        """
        self._require_not_stopped()
        if self._secrets_error:
            sentence = f"the pilot did not get the secrets of the job: {self._secrets_error}"
            raise AttemptError(ErrorClass.STAGE_IN_FAILED, sentence)
        self._require_sandbox()
        self._context.warm_worker.end_other_kind(self._task)
        self._context.journal.record_start(self._token)
        work, entries = self._context.folder, job_entries(self._task, self._job)
        files: list[ProducedFile] = []
        for entry in entries:
            protected = ProtectedInputs(
                work.spares,
                in_place=tool.in_place,
                shared=self._context.isolation.user is not None,
            )
            folders = work.list_folders(plain=self._plain_names)
            self._folders.update(folder.path for folder in folders)
            job_files = JobFiles(folders, protected.linked)
            try:
                produced = self._run_entry(tool, entry, protected, job_files)
                if entry is not entries[-1]:
                    produced = move_aside(produced, work.open_kept_folder(), job_files)
                    work.empty()
            except AttemptError as error:
                if len(entries) > 1:
                    error.message = f"{entry.inputs[0].name}: {error.message}"
                raise
            files += produced
        self._journal_urls([file.url for file in files])
        size = total_size(files, job_files)
        self._write_phase(AttemptPhase.STAGE_OUT, size)
        self._outputs = stage_out(files, job_files, needed_bytes=size)

    def _require_sandbox(self) -> None:
        """Check that there is a sandbox if the job requires one.

        Raises:
            AttemptError: The node has no sandbox.
        """
        reason = self._context.isolation.no_sandbox
        if self._task.needs.sandbox and reason:
            purpose = "for its secrets" if self._task.needs.secrets else "(sluice:sandbox)"
            raise AttemptError(
                ErrorClass.INTERNAL,
                f"the job is to run in a sandbox {purpose}, and {reason}: give this node one"
                " (docs/how-to/contain-tools.md), or take the job to a node that has one",
            )

    def _run_entry(
        self,
        tool: Executable,
        entry: JobEntry,
        protected_inputs: ProtectedInputs,
        job_files: JobFiles,
    ) -> list[ProducedFile]:
        self._write_phase(AttemptPhase.STAGE_IN)
        prepared = self._prepare(tool, entry, protected_inputs, job_files)
        # A warm worker may keep its output files open or mapped.
        job_files.are_shared = prepared.warm is not None
        self._require_not_stopped()
        self._write_phase(AttemptPhase.RUN)
        succeeded = False
        self._checkpoints.begin(self._context.folder.folders[0])
        try:
            try:
                end = self._execution.run(prepared)
            finally:
                self._tool_amounts.add(job_files)
            self._record.program_end = combine_runs(self._record.program_end, end)
            self._require_undamaged(protected_inputs, end)
            self._exit_check.require_success(
                tool, prepared, end, stderr=self._record.streams["stderr"]
            )
            succeeded = True
        finally:
            if prepared.warm is not None:
                self._context.warm_worker.finish_job(succeeded=succeeded)
        outputs = tool.collect(prepared, end.exit_code)
        self._require_not_stopped()
        return collect_files(
            self._task,
            self._job,
            outputs=outputs,
            job_files=job_files,
            inputs=protected_inputs.size,
            entry=entry.number,
        )

    def _prepare(
        self,
        tool: Executable,
        entry: JobEntry,
        protected_inputs: ProtectedInputs,
        job_files: JobFiles,
    ) -> PreparedJob:
        """Stage in the inputs and return the prepared job with its command line."""
        shared = self._context.shared.stage_inputs(self._task, protected_inputs)
        files = entry.files
        values = stage_in(
            self._task,
            files,
            f"{job_files.folder}/{IN}",
            protected_inputs=protected_inputs,
            shared_inputs=shared,
        ) | entry.items(self._task)
        if self._context.containers is not None:
            self._context.containers.memory = int(self._memory_limit.maximum)
            self._context.containers.gpus = self._gpus
        source = files[0].url if files else ""
        prepared = tool.prepare(
            job_files,
            values,
            source=source,
            protected_inputs=protected_inputs,
            secrets=self._secrets,
            gpus=len(self._gpus),
        )
        if self._context.settings.gpus:
            prepared.environment |= gpu_environment(self._gpus)
        if prepared.warm is not None and prepared.warm.inputs is None:
            prepared.warm = add_inputs(prepared.warm, self._task, (*files, *shared), values)
        self._record.command, self._record.note = prepared.arguments, prepared.note
        prepared.input_bytes = protected_inputs.size
        prepared.targets, prepared.in_place = protected_inputs.targets, protected_inputs.in_place
        self._checkpoints.restore_newest(job_files.folder, self._require_not_stopped)
        return prepared

    def _require_undamaged(self, protected_inputs: ProtectedInputs, end: ProgramEnd) -> None:
        """Check that the tool has not written to a file of a storage that it has a link to.

        If the tool was stopped, the damage is only written to the log.

        Raises:
            AttemptError: A file was written to.
        """
        contained = self._context.settings.sandbox is not None
        damage = protected_inputs.find_damage(tool_may_write=not contained)
        if damage is None:
            return
        log.error("attempt.original_damaged", error=damage.message)
        if end.kill_reason is not KillReason.STOPPED:
            raise damage
        self._record.note = "\n".join(filter(None, (self._record.note, damage.message)))

    def _require_not_stopped(self) -> None:
        if self._context.control.stop_reason(self._token) is not None:
            raise AttemptStoppedError

    def _write_phase(self, phase: AttemptPhase, size: int = 0) -> None:
        """Record the phase of the attempt.

        ``size`` is the size of the outputs in bytes, once they are being stored.
        """
        self._context.progress.write(self._token, phase, size)

    def _journal_urls(self, urls: list[str]) -> None:
        """Record in the journal which files are about to be written to storages."""
        self._has_journaled_urls = bool(urls)
        self._context.journal.record_urls(self._token, [*urls, log_url(self._task, self._job)])

    # --- the end ---

    def _create_report(self, end: AttemptResult) -> AttemptReport:
        end = replace(end, message=self._secrets.redaction.redact_text(end.message))
        log_file: LogFile | None = None
        if end.outcome is not AttemptOutcome.RETURNED:
            log_file, problem = self._store_log(end)
            if problem:
                end = replace(end, message="; ".join(filter(None, (end.message, problem))))
        message = self._remove_folders(end.message)
        end = replace(
            end, message="; ".join(filter(None, (message, self._checkpoints.resume_note)))
        )
        report = create_report(self._job, end, self._record, outputs=self._outputs, log=log_file)
        return report.model_copy(
            update={"checkpoint": self._checkpoints.may_exist, "spent": self._tool_amounts.amounts}
        )

    def _remove_folders(self, message: str) -> str:
        """Remove paths of the job's folders from a message.

        The folders no longer exist when people read the message. The log keeps the paths.
        """
        for folder in self._folders:
            message = message.replace(f"file://{folder}/", "").replace(f"{folder}/", "")
        return message

    def _store_log(self, end: AttemptResult) -> tuple[LogFile | None, str]:
        """Store the log and return it, or None and a sentence that says why not.

        A missing log does not fail a job that has its outputs.
        """
        limit = self._context.settings.log_limit
        try:
            if not self._has_journaled_urls:
                self._journal_urls([])
            text = write_log(self._task, self._job, self._record, str(end), limit=limit)
            return stage_log(text, log_url(self._task, self._job)), ""
        except (StorageError, OSError) as error:
            return None, f"its log could not be kept: {reason_of(error)}"

    def _journal_report(self, report: AttemptReport) -> str | None:
        """Record the report and return the name of its journal, or None on failure."""
        journal = self._context.journal
        try:
            if report.outcome is AttemptOutcome.RETURNED:
                journal.record_removal(self._token)
                return None
            journal.record_report(report)
        except OSError as error:
            log.error("attempt.report_not_kept", reason=os_error_sentence(error))
            return None
        return journal.name

    def _clear_folders(self) -> None:
        try:
            self._context.folder.clear()
            if self._task.needs.secrets:
                self._context.folder.forget_streams()
        except OSError as error:  # The next job meets the same error and reports it.
            log.error("attempt.folder_not_cleared", reason=os_error_sentence(error))
