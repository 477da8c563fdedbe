"""Every state name of the system, spelt out here only. The legal moves stand in the owner's
``domain/transitions.py``."""

from enum import StrEnum


class DatasetType(StrEnum):
    INPUT = "input"
    INTERMEDIATE = "intermediate"
    OUTPUT = "output"
    LOGS = "logs"


class DatasetState(StrEnum):
    """Life of a data set in the DMS."""

    OPEN = "open"  #: files are still being added
    CLOSED = "closed"  #: complete: can be worked with
    UPLOADING = "uploading"  #: closed, and on its way to the output storage
    UPLOADED = "uploaded"  #: every file safe and verified on the output storage
    DELETING = "deleting"  #: its files are being removed; nothing reads them any more
    DELETED = "deleted"  #: its files are gone; the record stays

    @property
    def readable(self) -> bool:
        """Can its files be worked with?"""
        return self in {DatasetState.CLOSED, DatasetState.UPLOADING, DatasetState.UPLOADED}


class ReplicaState(StrEnum):
    """Life of one copy of a file on one storage."""

    AVAILABLE = "available"  #: registered, and there as far as anybody knows
    DELETING = "deleting"  #: to be removed from its storage
    DELETED = "deleted"  #: removed, or found to be missing already


class StorageType(StrEnum):
    INPUT = "input"
    INTERMEDIATE = "intermediate"
    OUTPUT = "output"
    LOGS = "logs"


class TaskMode(StrEnum):
    MAP = "map"  #: the tool runs on each file
    MERGE = "merge"  #: the tool joins groups of files


class InputMode(StrEnum):
    """What a job gets of a data set that its step reads."""

    EACH = "each"  #: the file of its number (CWL: scatter, dotproduct)
    ONE = "one"  #: the only file there is, the same for all jobs
    ALL = "all"  #: all files, or all of its group, in order
    NONE = "none"  #: nothing: its jobs are made of values


class EntryKind(StrEnum):
    """What one entry of a data set is."""

    FILE = "file"  #: a plain file
    BUNDLE = "bundle"  #: a CWL value of another type with all its files, as one archive


class Pick(StrEnum):
    """Which file of a data set is taken where a tool takes one (CWL: ``pickValue``)."""

    FIRST = "first_non_null"  #: the first there is
    ONLY = "the_only_non_null"  #: the only one: there must be no other


class DeviceType(StrEnum):
    CPU = "cpu"
    GPU = "gpu"


class ContainerEngine(StrEnum):
    """What runs containers on a pilot's node."""

    DOCKER = "docker"
    PODMAN = "podman"
    APPTAINER = "apptainer"  #: and Singularity, as which it was known before
    UDOCKER = "udocker"

    @property
    def label(self) -> str:
        """As its makers write it."""
        return self.value if self is ContainerEngine.UDOCKER else self.value.capitalize()


class SandboxKind(StrEnum):
    """What keeps the tools of jobs that run in no container away from the rest of their node."""

    NAMESPACES = "namespaces"  #: bubblewrap, with the kernel's namespaces
    USERS = "users"  #: a user of the node's for each slot: no sandbox for jobs that ask for one
    NONE = "none"


class TaskState(StrEnum):
    """Life of a task in the WMS."""

    WAITING = "waiting"  #: its input data set is not complete yet
    SPLITTING = "splitting"  #: jobs are being made from the files; those made may already run
    ACTIVE = "active"  #: all its jobs exist, but those of a tree's further levels
    FINISHED = "finished"  #: enough of its jobs succeeded
    FAILED = "failed"  #: the minimum cannot be reached any more, or its input is unusable
    CANCELED = "canceled"  #: stopped on request

    @property
    def final(self) -> bool:
        return self in {TaskState.FINISHED, TaskState.FAILED, TaskState.CANCELED}


class JobState(StrEnum):
    READY = "ready"  #: waits for a pilot, or for the end of its pause before another attempt
    LEASED = "leased"  #: promised to a pilot until a time
    RUNNING = "running"  #: the pilot said that it has started
    FINISHED = "finished"  #: one attempt won, and its outputs are on their way to the catalogue
    FAILED = "failed"  #: its attempts are used up, or its input is at fault
    CANCELED = "canceled"  #: stopped on request, or no longer needed
    HELD = "held"  #: took several pilots down with it: waits for a person
    ASKED = "asked"  #: waits for the answers of people; no pilot is given it

    @property
    def final(self) -> bool:
        return self in {JobState.FINISHED, JobState.FAILED, JobState.CANCELED}


class AttemptOutcome(StrEnum):
    """How one attempt at a job ended, as its pilot reports it (``lost``: as the WMS found it)."""

    FINISHED = "finished"
    FAILED = "failed"
    CANCELED = "canceled"
    LOST = "lost"
    RETURNED = "returned"  #: handed back unstarted by a pilot that drains


class AttemptPhase(StrEnum):
    """What a pilot does with a job that it has started."""

    STAGE_IN = "stage_in"  #: its inputs, and the image of its container, are brought to the node
    RUN = "run"  #: its tool runs, or its expressions
    STAGE_OUT = "stage_out"  #: its outputs are brought to their storages


class ErrorClass(StrEnum):
    TOOL_FAILED = "tool_failed"
    #: exited with one of its permanentFailCodes: the input is at fault, no retry helps
    TOOL_REFUSED = "tool_refused"
    TOOL_TIMEOUT = "tool_timeout"
    OUT_OF_MEMORY = "out_of_memory"
    STAGE_IN_FAILED = "stage_in_failed"
    CHECKSUM_MISMATCH = "checksum_mismatch"
    STAGE_OUT_FAILED = "stage_out_failed"
    #: a storage or the node's disk was full: not the job's fault, and it passes
    NO_ROOM = "no_room"
    #: or its node had no memory for a job that kept to what it asked for: not the job's fault
    PILOT_LOST = "pilot_lost"
    CANCELED = "canceled"
    INTERNAL = "internal"


class PilotState(StrEnum):
    ACTIVE = "active"  #: registered, and asks for work
    DRAINING = "draining"  #: finishes what it has, takes nothing new
    GONE = "gone"  #: signed off
    LOST = "lost"  #: stopped answering


class ReportAnswer(StrEnum):
    """What became of a pilot's report."""

    ACCEPTED = "accepted"
    ALREADY = "already"  #: the pilot's report on the attempt was accepted before
    STALE = (  #: the attempt is no longer the job's: nothing changed; the pilot removes its files
        "stale"
    )


class ChainState(StrEnum):
    IN_PROGRESS = "in_progress"  #: has steps left to do
    UPLOADING = "uploading"  #: all steps done, the output is on its way to the output storage
    FINISHED = "finished"  #: the output is safe
    FAILED = "failed"  #: a step or an upload failed
    CANCELED = "canceled"  #: stopped on request

    @property
    def final(self) -> bool:
        return self in {ChainState.FINISHED, ChainState.FAILED, ChainState.CANCELED}


class StepState(StrEnum):
    PENDING = "pending"  #: waits for the steps before it
    STARTING = "starting"  #: its storages and data sets are being made
    IN_PROGRESS = "in_progress"  #: its task is with the WMS
    FINISHED = "finished"  #: its task finished
    FAILED = "failed"  #: its task failed, or could not be sent
    CANCELED = "canceled"  #: its task was canceled, or never sent because the chain ended

    @property
    def final(self) -> bool:
        return self in {StepState.FINISHED, StepState.FAILED, StepState.CANCELED}


class ChainDatasetStatus(StrEnum):
    """A data set as its chain sees it."""

    IN_PROGRESS = "in_progress"  #: being written
    READY = "ready"  #: complete, and needed
    FINISHED = "finished"  #: no longer needed: released for deletion


class WatchState(StrEnum):
    """What the watcher knows of a task or an upload it follows."""

    IN_PROGRESS = "in_progress"  #: asked for again and again
    FINISHED = "finished"  #: the task finished, the data set is uploaded
    FAILED = "failed"  #: the task or the upload failed
    CANCELED = "canceled"  #: the task was canceled, or never sent


class WatchKind(StrEnum):
    TASK = "task"  #: followed in the WMS
    UPLOAD = "upload"  #: followed in the DMS


class AskItemState(StrEnum):
    """Life of an item that people are asked about."""

    OPEN = "open"  #: waits for answers
    DECIDED = "decided"  #: enough people agree; answers may still be taken back
    GIVING = "giving"  #: its answers stand, and its file is on its way to the WMS
    GIVEN = "given"  #: its job is finished with them
    WITHDRAWN = "withdrawn"  #: its task ended before, or its file is nothing that can be shown

    @property
    def final(self) -> bool:
        return self in {AskItemState.GIVEN, AskItemState.WITHDRAWN}


class DeviceState(StrEnum):
    """What is thought of a browser that answers."""

    COUNTED = "counted"  #: its answers count
    EXCLUDED = "excluded"  #: found to answer without looking: none of its answers counts
