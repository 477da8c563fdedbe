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
from wms.db.jobs.reused_jobs import ReusedJob, finished_jobs, same_shared_inputs
from wms.db.jobs.splitting import stored_files
from wms.db.tasks.task_cache import KnownTask
from wms.domain.splitting.flow import inputs_that_come, takes_as_they_come
from wms.domain.splitting.grouping import JobDraft
from wms.usecases.splitting.read_files import NotSplittable

#: Files per check.
_LOOKED_AT = 1000


@dataclass(frozen=True, slots=True)
class ReusedJobs:
    """Jobs that are taken over, and the numbers of files registered for them, by data set."""

    jobs: Sequence[ReusedJob] = ()
    files: dict[UUID, int] = field(default_factory=dict)

    @property
    def seqs(self) -> set[int]:
        """The numbers of the jobs."""
        return {job.draft.seq for job in self.jobs}


class FinishedBefore:
    """The finished jobs of the earlier task; it is asked page by page, in order."""

    def __init__(
        self,
        database: Database,
        dms: DmsClient,
        known: KnownTask,
        before: ReusedTask,
        *,
        looks: bool,
    ) -> None:
        """Prepare to read the earlier task.

        ``looks``: check outputs before a job is taken over; a site may switch that off.
        """
        self._looks = looks
        self._database, self._dms, self._known, self._before = database, dms, known, before
        self._files = {port: _LookaheadFiles(dms, uid) for port, uid in before.outputs.items()}
        # Data sets that others read as a whole or several times release nothing.
        inputs = inputs_that_come(known.task) if takes_as_they_come(known.task) else []
        self._inputs = {
            given.port if number else "": _LookaheadFiles(dms, given.dat_in_uid, released=False)
            for number, given in enumerate(inputs)
        }

    async def take(self, drafts: Sequence[JobDraft]) -> ReusedJobs:
        """Return the jobs that are taken over, after their files were registered.

        Raises:
            NotSplittable: A data set is gone, or a job that has to run needs a deleted file.
            NotAvailable: The DMS does not answer.
        """
        taken = await self._take(drafts)
        seqs = taken.seqs
        await self._require_inputs([draft for draft in drafts if draft.seq not in seqs])
        return taken

    async def _take(self, drafts: Sequence[JobDraft]) -> ReusedJobs:
        if not drafts:
            return ReusedJobs()
        first, last = drafts[0].seq, drafts[-1].last_seq
        async with self._database.connection() as connection:
            if not await same_shared_inputs(connection, self._known.task.uid, self._before.task):
                return ReusedJobs()
            done = await finished_jobs(connection, self._before.task, first=first, last=last)
        if not done:
            return ReusedJobs()
        found = {port: await ahead.files(first, last) for port, ahead in self._files.items()}
        lost = await self._lost(found, done)
        jobs = [
            ReusedJob(draft, done[draft.seq].id)
            for draft in drafts
            if draft.seq in done
            and draft.seq not in lost
            and done[draft.seq].inputs == stored_files(draft.inputs)
            and all(
                output.optional or draft.seq in found.get(port, {})
                for port, output in self._known.outputs.items()
            )
        ]
        files = {}
        for port, output in self._known.outputs.items():
            wanted = [file for job in jobs for file in found.get(port, {}).get(job.draft.seq, ())]
            files[output.dat_out_uid] = len(wanted)
            await self._register(output, wanted)
        return ReusedJobs(jobs, files)

    async def _lost(
        self, found: Mapping[str, Mapping[int, Sequence[File]]], done: Collection[int]
    ) -> set[int]:
        """Return the numbers of finished jobs of which a file is not as it was registered.

        Raises:
            NotAvailable: A storage does not answer.
        """
        files = [
            file
            for of_port in found.values()
            for seq, of_job in of_port.items()
            for file in of_job
            if seq in done and not file.released
        ]
        lost = set[int]()
        if not self._looks:
            return lost
        for start in range(0, len(files), _LOOKED_AT):
            some = files[start : start + _LOOKED_AT]
            claimed = [
                StatedFile(url=file.url, size=file.size, checksum=file.checksum) for file in some
            ]
            faults = await self._dms.check_stated_files(claimed, content=False)
            lost |= {
                file.seq for file, fault in zip(some, faults, strict=True) if fault is not None
            }
        return lost

    async def _require_inputs(self, drafts: Sequence[JobDraft]) -> None:
        if not drafts:
            return
        first, last = drafts[0].seq, drafts[-1].last_seq
        there = {port: await ahead.files(first, last) for port, ahead in self._inputs.items()}
        for draft in drafts:
            for file in draft.inputs:
                if file.port in there and file.seq not in there[file.port]:
                    raise NotSplittable(
                        f"its job {draft.seq} has to run, and the file {file.name} that it reads is"
                        " deleted already: the step that wrote it has to run again"
                    )

    async def _register(self, output: TaskOutput, files: Sequence[File]) -> None:
        new = [
            NewFile.model_validate(file.model_dump(exclude={"id", "dataset_uid"})) for file in files
        ]
        if not new:
            return
        try:
            await self._dms.register_files(output.dat_out_uid, new)
        except (Conflict, NotFound, Unprocessable) as refusal:
            raise NotSplittable(
                f"outputs of jobs that finished before cannot be taken over: {refusal.detail}"
            ) from refusal


class _LookaheadFiles:
    """The files of a data set, read once from its beginning with rising numbers.

    ``released`` includes released files.
    """

    def __init__(self, dms: DmsClient, uid: UUID, *, released: bool = True) -> None:
        self._pages = _pages(dms, uid, released=released)
        self._read: list[File] = []
        self._over = False

    async def files(self, first: int, last: int) -> dict[int, list[File]]:
        """Return the files numbered from ``first`` to ``last``, by number."""
        while not self._over and (not self._read or self._read[-1].seq <= last):
            page = await anext(self._pages, None)
            self._over = page is None
            self._read = [file for file in (*self._read, *(page or ())) if file.seq >= first]
        found: dict[int, list[File]] = {}
        for file in self._read:
            if first <= file.seq <= last:
                found.setdefault(file.seq, []).append(file)
        return found


async def _pages(dms: DmsClient, uid: UUID, *, released: bool) -> AsyncIterator[list[File]]:
    try:
        dataset = await dms.dataset(uid)
        if dataset.state is DatasetState.OPEN:
            raise NotAvailable(
                f"data set {dataset.name}, whose files are to be taken over, is still open"
            )
        if not dataset.state.readable:
            raise NotSplittable(
                f"data set {dataset.name}, whose files were to be taken over, is {dataset.state}"
            )
        after: str | None = None
        while True:
            page = await dms.files(uid, after=after, limit=2000, released=released)
            yield page.files
            if page.after is None:
                return
            after = page.after
    except NotFound as error:
        raise NotSplittable(
            f"data set {uid}, whose files were to be taken over, is unknown to the DMS"
        ) from error
