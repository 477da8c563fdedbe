"""Notes on life cycles: who moves each state on, and what a crash does there.

Transition tables cannot say this. Final states need no note.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sluice.contracts.common.states import (
    AskItemState,
    ChainDatasetStatus,
    ChainState,
    DatasetState,
    DeviceState,
    JobState,
    PilotState,
    ReplicaState,
    StepState,
    TaskState,
    WatchState,
)


@dataclass(frozen=True, slots=True)
class CycleNotes:
    """Notes on a life cycle.

    ``states`` maps each state to who moves it on, and what a crash there does.
    """

    title: str
    about: str
    states: Mapping[StrEnum, tuple[str, str]]


NOTES: dict[str, CycleNotes] = {
    "dms.domain.transitions.DATASET_MOVES": CycleNotes(
        "Data set",
        "A logical group of files, the unit of one task.",
        {
            DatasetState.OPEN: (
                (
                    "the closing loop, once as many files are registered as make it complete; `POST"
                    " …/close`; a deletion"
                ),
                (
                    "files registered so far stay; a message that was not acknowledged comes again"
                    " and is counted once"
                ),
            ),
            DatasetState.CLOSED: (
                "the consumers of `dms.uploads` and `dms.deletions`; `DELETE`",
                "nothing is under way; the message comes again",
            ),
            DatasetState.UPLOADING: (
                "the upload loop of the instance that holds the claim",
                (
                    "the claim runs out, another instance takes over and copies only what is not"
                    " there yet; half a copy has a temporary name and is never taken for a file"
                ),
            ),
            DatasetState.UPLOADED: (
                "`DELETE` with `force`, as this may be the last copy",
                "nothing is under way",
            ),
            DatasetState.DELETING: (
                "the deletion loop of the instance that holds the claim",
                (
                    "the claim runs out and another instance goes on; a file that is gone already"
                    " counts as removed"
                ),
            ),
        },
    ),
    "dms.domain.transitions.REPLICA_MOVES": CycleNotes(
        "Replica",
        "One copy of one file on one storage.",
        {
            ReplicaState.AVAILABLE: (
                "the deletion or the upload of its data set; the release of the file",
                "nothing is under way",
            ),
            ReplicaState.DELETING: (
                "the deletion loop; the loop of released files",
                "removed again: a missing file is success",
            ),
        },
    ),
    "wms.domain.transitions.TASK_MOVES": CycleNotes(
        "Task",
        "A step of a chain: work over a whole data set. Its counts add up to its total at every"
        " moment.",
        {
            TaskState.WAITING: (
                (
                    "the splitting loops, when the DMS says that the input can be read, or the task"
                    " before is at work; a cancellation"
                ),
                "the next round asks the DMS again",
            ),
            TaskState.SPLITTING: (
                (
                    "the splitting loops, page by page; where it takes files as they come, they"
                    " make it active when the task before has ended; a cancellation"
                ),
                (
                    "jobs made so far exist and may run; splitting goes on at the place that was"
                    " committed with the last page; one that takes files as they come finds in the"
                    " catalogue what it lacks"
                ),
            ),
            TaskState.ACTIVE: (
                (
                    "whoever settles the job that decides it: a report, an expired lease, a"
                    " cancellation"
                ),
                (
                    "that transaction is rolled back as a whole and done again by the next report"
                    " or round"
                ),
            ),
        },
    ),
    "wms.domain.transitions.JOB_MOVES": CycleNotes(
        "Job",
        "A tool run over one file or one group of files. Every attempt has a number of its own, the"
        " fencing token: a report that carries another one changes nothing. A short job is reported"
        " before any heartbeat says that it runs. There may be two attempts at a time; the end of"
        " one that does not succeed moves nothing while the other goes on.",
        {
            JobState.READY: (
                "a pilot's request for jobs; the end of its task",
                "nothing is under way",
            ),
            JobState.LEASED: (
                "its pilot by heartbeat or report; the expiry loop; the end of its task",
                (
                    "the pilot stops it before the lease ends, the WMS gives it away only after"
                    " that: `ready` again"
                ),
            ),
            JobState.RUNNING: (
                "its pilot's report; the expiry loop; the end of its task",
                "as for `leased`; that does not count against the task's `retry`",
            ),
            JobState.FAILED: (
                "a person, by `retry`, while the task lives; otherwise final",
                "nothing is under way",
            ),
            JobState.HELD: ("a person, by `retry`; the end of its task", "nothing is under way"),
            JobState.ASKED: (
                "the service that asks people, with the file of what they answered, or because its"
                " own is nothing that can be shown; the end of its task",
                "nothing is under way here, for as long as it takes; nothing runs out",
            ),
        },
    ),
    "wms.domain.transitions.PILOT_MOVES": CycleNotes(
        "Pilot",
        "What the WMS knows of a process on a node. Its jobs depend on their leases alone, never on"
        " this state.",
        {
            PilotState.ACTIVE: (
                (
                    "itself, by signing off; an operator's `drain`; the loop that looks for silent"
                    " pilots"
                ),
                "its leases run out, then it is shown as `lost`",
            ),
            PilotState.DRAINING: (
                "itself, when its last job has ended; the loop that looks for silent pilots",
                "as for `active`",
            ),
            PilotState.LOST: (
                "itself, when it is heard of again",
                "its leases have run out; nothing more is lost",
            ),
            PilotState.GONE: ("itself, by registering anew", "nothing is under way"),
        },
    ),
    "wfms.chains.domain.transitions.CHAIN_MOVES": CycleNotes(
        "Chain",
        "A data set on its way through a template. There is one for each data set and template"
        " version.",
        {
            ChainState.IN_PROGRESS: (
                "the transaction that ends its last step; a cancellation",
                "the watcher tells the end of a task again until it is answered",
            ),
            ChainState.UPLOADING: (
                "the transaction that notes the last upload; a cancellation",
                "the DMS goes on copying, the watcher goes on asking",
            ),
        },
    ),
    "wfms.chains.domain.transitions.STEP_MOVES": CycleNotes(
        "Step",
        "A step of a chain as the chain service sees it.",
        {
            StepState.PENDING: (
                "the transaction that ends the step before it; a cancellation",
                "nothing is under way",
            ),
            StepState.STARTING: (
                "the start loop of the instance that holds the claim",
                (
                    "the claim runs out and another instance does it again: data sets have fixed"
                    " names, the task a fixed id, so that a repetition finds what is there; the"
                    " task leaves with the transaction that ends this state"
                ),
            ),
            StepState.IN_PROGRESS: (
                "the watcher's report",
                "the report comes again, and is answered as the first time",
            ),
        },
    ),
    "wfms.chains.domain.transitions.DATASET_MOVES": CycleNotes(
        "Data set of a chain",
        "What its chain still needs a data set for; what the DMS does with it is another life"
        " cycle.",
        {
            ChainDatasetStatus.IN_PROGRESS: (
                "the transaction that ends the step that writes it",
                "rolled back and done again",
            ),
            ChainDatasetStatus.READY: (
                "the transaction after which no step needs it any more",
                (
                    "rolled back and done again; the release is handed to the watcher until the"
                    " watcher has confirmed it"
                ),
            ),
        },
    ),
    "wfms.watcher.domain.transitions.WATCH_MOVES": CycleNotes(
        "Watch",
        "A task or an upload that the watcher follows until the chain service knows of its end.",
        {
            WatchState.IN_PROGRESS: (
                "the follow loop, when the WMS or the DMS says that it has ended",
                "the claim runs out and the next round asks again; events only make that sooner",
            ),
        },
    ),
    "wfms.ask.domain.transitions.ITEM_MOVES": CycleNotes(
        "Asked item",
        "What people are asked about: one job of a step with `sluice:ask`. Items whose answers are"
        " known stay open for good.",
        {
            AskItemState.OPEN: (
                (
                    "the answer by which enough people agree; the refusing loop, where its file is"
                    " nothing that can be shown; the end of its task"
                ),
                "rolled back: the browser sends its answers again, and each counts once",
            ),
            AskItemState.DECIDED: (
                "the giving loop after a while; back to open where answers are taken back",
                "rolled back and done again",
            ),
            AskItemState.GIVING: (
                "the giving loop, when the WMS has said that it knows",
                "the same file is written again, and the WMS says that it knows it already",
            ),
        },
    ),
    "wfms.ask.domain.transitions.DEVICE_STATE_MOVES": CycleNotes(
        "Standing of a browser that answers",
        "Whether its answers count.",
        {
            DeviceState.COUNTED: (
                "the judging loop, or a person",
                "rolled back: what it answered is looked at again, each answer once",
            ),
            DeviceState.EXCLUDED: ("a person", "rolled back, and the person is told so"),
        },
    ),
}
