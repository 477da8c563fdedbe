"""Take over finished jobs of an earlier task with the same work instead of running them again.

A job is taken over if a job of the same number finished with the same inputs. Each required output
file must be in the catalogue and exist as registered. The files are registered in this task's data
sets, at their present place, before its jobs are stored. The catalogue keeps what a data set has,
so nothing is deleted in between, and a repetition after a crash finds them registered.

Released files count as if they existed. So the jobs that read them are taken over, and so are the
jobs that wrote them. Their files are released in the new data set from the start.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.datasets import File, NewFile
from sluice.contracts.data.stated_files import StatedFile
from sluice.contracts.jobs.tasks import ReusedTask, TaskOutput
from sluice.servicekit.database import Database
from wms.db.jobs.reused_jobs import ReusedJob, have_same_shared_inputs, list_finished_jobs
from wms.db.jobs.splitting import dump_files
from wms.db.tasks.task_cache import CachedTask
from wms.domain.splitting.dataflow_rules import can_stream_inputs, list_streamed_inputs
from wms.domain.splitting.grouping import JobDraft
from wms.usecases.splitting.input_files import UnusableInput

#: Files per check.
_MAX_CHECKED = 1000


@dataclass(frozen=True, slots=True)
class ReusedJobs:
    """Jobs that are taken over, and the numbers of files registered for them, by data set."""

    jobs: Sequence[ReusedJob] = ()
    files: dict[UUID, int] = field(default_factory=dict)

    @property
    def seqs(self) -> set[int]:
        """The numbers of the jobs."""
        return {job.draft.seq for job in self.jobs}


class FinishedJobReuse:
    """The finished jobs of the earlier task; it is asked page by page, in order."""

    def __init__(
        self,
        database: Database,
        dms: DmsClient,
        cached_task: CachedTask,
        before: ReusedTask,
        *,
        checks_outputs: bool,
    ) -> None:
        """Prepare to read the earlier task.

        ``checks_outputs``: check outputs before a job is taken over; a site may switch that off.
        """
        self._checks_outputs = checks_outputs
        self._database, self._dms = database, dms
        self._cached_task, self._before = cached_task, before
        self._files = {port: _LookaheadFiles(dms, uid) for port, uid in before.outputs.items()}
        # Data sets that others read as a whole or several times release nothing.
        inputs = (
            list_streamed_inputs(cached_task.task) if can_stream_inputs(cached_task.task) else []
        )
        self._inputs = {
            task_input.port if number else "": _LookaheadFiles(
                dms, task_input.dat_in_uid, released=False
            )
            for number, task_input in enumerate(inputs)
        }

    async def take(self, drafts: Sequence[JobDraft]) -> ReusedJobs:
        """Return the jobs that are taken over, after their files were registered.

        Raises:
            UnusableInput: A data set is gone, or a job that has to run needs a deleted file.
            NotAvailable: The DMS does not answer.
        """
        reused = await self._take(drafts)
        seqs = reused.seqs
        await self._require_inputs([draft for draft in drafts if draft.seq not in seqs])
        return reused

    async def _take(self, drafts: Sequence[JobDraft]) -> ReusedJobs:
        if not drafts:
            return ReusedJobs()
        first, last = drafts[0].seq, drafts[-1].last_seq
        async with self._database.connection() as connection:
            if not await have_same_shared_inputs(
                connection, self._cached_task.task.uid, self._before.task
            ):
                return ReusedJobs()
            finished = await list_finished_jobs(
                connection, self._before.task, first=first, last=last
            )
        if not finished:
            return ReusedJobs()
        files_by_port = {
            port: await ahead.files(first, last) for port, ahead in self._files.items()
        }
        missing = await self._find_missing(files_by_port, finished)
        jobs = [
            ReusedJob(draft, finished[draft.seq].id)
            for draft in drafts
            if draft.seq in finished
            and draft.seq not in missing
            and finished[draft.seq].inputs == dump_files(draft.inputs)
            and all(
                output.optional or draft.seq in files_by_port.get(port, {})
                for port, output in self._cached_task.outputs.items()
            )
        ]
        files = {}
        for port, output in self._cached_task.outputs.items():
            reused_files = [
                file for job in jobs for file in files_by_port.get(port, {}).get(job.draft.seq, ())
            ]
            files[output.dat_out_uid] = len(reused_files)
            await self._register(output, reused_files)
        return ReusedJobs(jobs, files)

    async def _find_missing(
        self,
        files_by_port: Mapping[str, Mapping[int, Sequence[File]]],
        finished_seqs: Collection[int],
    ) -> set[int]:
        """Return the numbers of finished jobs of which a file is not as it was registered.

        Raises:
            NotAvailable: A storage does not answer.
        """
        files = [
            file
            for of_port in files_by_port.values()
            for seq, of_job in of_port.items()
            for file in of_job
            if seq in finished_seqs and not file.released
        ]
        missing = set[int]()
        if not self._checks_outputs:
            return missing
        for start in range(0, len(files), _MAX_CHECKED):
            batch = files[start : start + _MAX_CHECKED]
            stated_files = [
                StatedFile(url=file.url, size=file.size, checksum=file.checksum) for file in batch
            ]
            faults = await self._dms.check_stated_files(files=stated_files, content=False)
            missing |= {
                file.seq for file, fault in zip(batch, faults, strict=True) if fault is not None
            }
        return missing

    async def _require_inputs(self, drafts: Sequence[JobDraft]) -> None:
        if not drafts:
            return
        first, last = drafts[0].seq, drafts[-1].last_seq
        files_by_port = {
            port: await ahead.files(first, last) for port, ahead in self._inputs.items()
        }
        for draft in drafts:
            for file in draft.inputs:
                if file.port in files_by_port and file.seq not in files_by_port[file.port]:
                    raise UnusableInput(
                        f"its job {draft.seq} has to run, but its input file {file.name} has been"
                        " deleted: rerun the step that wrote it"
                    )

    async def _register(self, output: TaskOutput, files: Sequence[File]) -> None:
        new = [
            NewFile.model_validate(file.model_dump(exclude={"id", "dataset_uid"})) for file in files
        ]
        if not new:
            return
        try:
            await self._dms.register_many_files(output.dat_out_uid, new)
        except (Conflict, NotFound, Unprocessable) as refusal:
            raise UnusableInput(
                f"outputs of jobs that finished before cannot be taken over: {refusal.detail}"
            ) from refusal


class _LookaheadFiles:
    """The files of a data set, read once from its beginning with rising numbers.

    ``released`` includes released files.
    """

    def __init__(self, dms: DmsClient, uid: UUID, *, released: bool = True) -> None:
        self._pages = _list_pages(dms, uid, released=released)
        self._read: list[File] = []
        self._is_over = False

    async def files(self, first: int, last: int) -> dict[int, list[File]]:
        """Return the files numbered from ``first`` to ``last``, by number."""
        while not self._is_over and (not self._read or self._read[-1].seq <= last):
            page = await anext(self._pages, None)
            self._is_over = page is None
            self._read = [file for file in (*self._read, *(page or ())) if file.seq >= first]
        files_by_seq: dict[int, list[File]] = {}
        for file in self._read:
            if first <= file.seq <= last:
                files_by_seq.setdefault(file.seq, []).append(file)
        return files_by_seq


async def _list_pages(dms: DmsClient, uid: UUID, *, released: bool) -> AsyncIterator[list[File]]:
    try:
        dataset = await dms.get_dataset(uid)
        if dataset.state is DatasetState.OPEN:
            raise NotAvailable(
                f"data set {dataset.name}, whose files are to be taken over, is still open"
            )
        if not dataset.state.readable:
            raise UnusableInput(
                f"data set {dataset.name}, whose files were to be taken over, is {dataset.state}"
            )
        after: str | None = None
        while True:
            page = await dms.list_files(uid, after=after, limit=2000, released=released)
            yield page.files
            if page.after is None:
                return
            after = page.after
    except NotFound as error:
        raise UnusableInput(
            f"data set {uid}, whose files were to be taken over, is unknown to the DMS"
        ) from error
