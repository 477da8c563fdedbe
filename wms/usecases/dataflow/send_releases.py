"""Send the releases of files that finished jobs have read."""

from collections.abc import Mapping, Sequence

from sluice.contracts.jobs.tasks import Task
from sluice.contracts.messaging.messages import DMS_RELEASES, ReleaseFiles
from sluice.servicekit.database import Transaction
from wms.domain.releasing import Inputs, find_releasable_files

#: Most files per message.
_MAX_FILES_PER_MESSAGE = 10_000


def send_releases(
    transaction: Transaction,
    task: Task,
    finished_jobs: Sequence[tuple[int, Inputs]],
    *,
    downstream_counts: Mapping[str, int],
) -> None:
    """Send ``dms.releases`` for jobs that finished, given by numbers and inputs."""
    for files in find_releasable_files(task, finished_jobs, downstream_counts=downstream_counts):
        for start in range(0, len(files.seqs), _MAX_FILES_PER_MESSAGE):
            transaction.send(
                DMS_RELEASES,
                ReleaseFiles(
                    dataset_uid=files.dataset,
                    task_uid=task.uid,
                    downstream_count=files.downstream_count,
                    seqs=files.seqs[start : start + _MAX_FILES_PER_MESSAGE],
                ),
                subject=files.dataset,
                task=task.uid,
                chain=task.chain_uid,
                dataset=files.dataset,
            )
