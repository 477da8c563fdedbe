"""Notes on life cycles: who moves each state on, and what a crash does there.

Transition tables cannot say this. Final states need no note.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sluice.contracts.common.states import (
    AskItemState,
    BrowserState,
    ChainDatasetStatus,
    ChainState,
    DatasetState,
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
        "A named list of files, which one task reads or writes.",
        {
            DatasetState.OPEN: (
                (
                    "the closing loop, when all files are registered; `POST …/close`; a request to"
                    " delete it"
                ),
                (
                    "registered files stay; the broker delivers an unacknowledged message again,"
                    " and its files count once"
                ),
            ),
            DatasetState.CLOSED: (
                "the consumers of `dms.uploads` and `dms.deletions`; `DELETE`",
                "the broker delivers the message again",
            ),
            DatasetState.UPLOADING: (
                "the upload loop of the instance that has the claim",
                (
                    "the claim expires, and another instance copies the missing files; an"
                    " incomplete copy has a temporary name"
                ),
            ),
            DatasetState.UPLOADED: (
                "`DELETE` with `force`, because this may be the last copy",
                "no work is in progress",
            ),
            DatasetState.DELETING: (
                "the deletion loop of the instance that has the claim",
                (
                    "the claim expires, and another instance deletes the other files; a missing"
                    " file counts as deleted"
                ),
            ),
        },
    ),
    "dms.domain.transitions.REPLICA_MOVES": CycleNotes(
        "Replica",
        "One copy of a file on one storage.",
        {
            ReplicaState.AVAILABLE: (
                "the deletion or the upload of its data set; the release of its file",
                "no work is in progress",
            ),
            ReplicaState.DELETING: (
                "the deletion loop; the loop of released files",
                "the loop deletes it again; a missing file counts as deleted",
            ),
        },
    ),
    "wms.domain.transitions.TASK_MOVES": CycleNotes(
        "Task",
        "A step of a chain, with one data set as its input. Its counts always add up to its total.",
        {
            TaskState.WAITING: (
                (
                    "the splitting loops, when the input is complete or the upstream task is at"
                    " work; a cancellation"
                ),
                "the next round asks the DMS again",
            ),
            TaskState.SPLITTING: (
                (
                    "the splitting loops, when they have made all jobs; a task with dataflow"
                    " scheduling becomes active when the upstream task has ended; a cancellation"
                ),
                (
                    "existing jobs run; splitting continues after the last committed page; a task"
                    " with dataflow scheduling finds missing files in the catalogue"
                ),
            ),
            TaskState.ACTIVE: (
                "the transaction that ends the decisive job: a report, an expired lease or a"
                " cancellation",
                "the transaction is rolled back; the next report or round repeats it",
            ),
        },
    ),
    "wms.domain.transitions.JOB_MOVES": CycleNotes(
        "Job",
        "One invocation of a tool. Each attempt has a number, the fencing token. A report with"
        " another number has no effect. A short job may be reported before a heartbeat says that it"
        " runs. A duplicate attempt may run at the same time. If one of two attempts fails, the job"
        " keeps its state while the other runs.",
        {
            JobState.READY: (
                "a pilot's request for jobs; the end of its task",
                "no work is in progress",
            ),
            JobState.LEASED: (
                "a heartbeat or report of its pilot; the expiry loop; the end of its task",
                (
                    "the pilot stops the job before the lease ends; afterwards the WMS makes it"
                    " `ready` again"
                ),
            ),
            JobState.RUNNING: (
                "a report of its pilot; the expiry loop; the end of its task",
                "as for `leased`; the attempt does not count against `retry`",
            ),
            JobState.FAILED: (
                "a person's `retry`, while the task has not ended; otherwise final",
                "no work is in progress",
            ),
            JobState.QUARANTINED: (
                "a person's `retry`; the end of its task",
                "no work is in progress",
            ),
            JobState.ASKED: (
                "the human tasks service: it sends the annotations, or reports that it cannot show"
                " the file; the end of its task",
                "no work is in progress; the state has no time limit",
            ),
        },
    ),
    "wms.domain.transitions.PILOT_MOVES": CycleNotes(
        "Pilot",
        "The WMS's view of a pilot process. Jobs depend on their leases, never on this state.",
        {
            PilotState.ACTIVE: (
                "the pilot, when it signs off; an operator's `drain`; the loop that finds silent"
                " pilots",
                "its leases expire, and then it is shown as `lost`",
            ),
            PilotState.DRAINING: (
                "the pilot, when its last job has ended; the loop that finds silent pilots",
                "as for `active`",
            ),
            PilotState.LOST: (
                "the pilot, with its next request",
                "its leases have already expired",
            ),
            PilotState.GONE: ("the pilot, when it registers again", "no work is in progress"),
        },
    ),
    "wfms.chains.domain.transitions.CHAIN_MOVES": CycleNotes(
        "Chain",
        "A data set on its way through a template.",
        {
            ChainState.IN_PROGRESS: (
                "the transaction that ends its last step; a cancellation",
                "the watcher repeats its report of a task's end until it gets an answer",
            ),
            ChainState.UPLOADING: (
                "the transaction that records its last upload; a cancellation",
                "the DMS continues to copy, and the watcher continues to ask",
            ),
        },
    ),
    "wfms.chains.domain.transitions.STEP_MOVES": CycleNotes(
        "Step",
        "A step of a chain, as the chain service records it.",
        {
            StepState.PENDING: (
                "the transaction that ends the step before it; a cancellation",
                "no work is in progress",
            ),
            StepState.STARTING: (
                "the start loop of the instance that has the claim",
                (
                    "the claim expires, and another instance starts the step; names of data sets"
                    " and the task's id are computed, so it finds what exists; the task is sent by"
                    " the transaction that ends this state"
                ),
            ),
            StepState.IN_PROGRESS: (
                "a report of the watcher",
                "the watcher repeats the report, and gets the same answer",
            ),
        },
    ),
    "wfms.chains.domain.transitions.DATASET_MOVES": CycleNotes(
        "Data set of a chain",
        "Whether its chain needs the data set. The DMS has another life cycle for its files.",
        {
            ChainDatasetStatus.IN_PROGRESS: (
                "the transaction that ends the step that writes it",
                "the transaction is rolled back and repeated",
            ),
            ChainDatasetStatus.READY: (
                "the transaction after which no step needs it",
                (
                    "the transaction is rolled back and repeated; the release is sent to the"
                    " watcher until the watcher confirms it"
                ),
            ),
        },
    ),
    "wfms.watcher.domain.transitions.WATCH_MOVES": CycleNotes(
        "Watch",
        "A task or an upload that the watcher follows until the chain service knows its end.",
        {
            WatchState.IN_PROGRESS: (
                "the follow loop, when the WMS or the DMS answers that it has ended",
                "the claim expires, and the next round asks again; events only make it faster",
            ),
        },
    ),
    "wfms.ask.domain.transitions.ITEM_MOVES": CycleNotes(
        "Item of a human task",
        "A question to annotators: one job of a step with `sluice:ask`. Gold items stay open.",
        {
            AskItemState.OPEN: (
                (
                    "the annotation with which enough annotators agree; the loop that refuses"
                    " files that cannot be shown; the end of its task"
                ),
                "the browser sends its annotations again, and each counts once",
            ),
            AskItemState.DECIDED: (
                (
                    "the loop that delivers answers, after a pause; a revocation of annotations,"
                    " which opens it again"
                ),
                "the transaction is rolled back and repeated",
            ),
            AskItemState.DELIVERING: (
                "the loop that delivers answers, when the WMS has confirmed the annotations",
                "the same file is written again, and the WMS confirms it again",
            ),
        },
    ),
    "wfms.ask.domain.transitions.BROWSER_STATE_MOVES": CycleNotes(
        "Browser of an annotator",
        "Whether the annotations from this browser count.",
        {
            BrowserState.COUNTED: (
                "the loop that scores annotators; a person",
                "the loop scores its annotations again, each once",
            ),
            BrowserState.EXCLUDED: (
                "a person",
                "the transaction is rolled back, and the person sees an error",
            ),
        },
    ),
}
