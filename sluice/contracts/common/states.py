"""The names of all states in the system.

The legal transitions are in ``domain/transitions.py`` of the service that owns the object.
"""

from enum import StrEnum


class DatasetType(StrEnum):
    """The role of a data set in a chain."""

    INPUT = "input"
    INTERMEDIATE = "intermediate"
    OUTPUT = "output"
    LOGS = "logs"


class DatasetState(StrEnum):
    """The state of a data set in the DMS."""

    OPEN = "open"  #: files can still be added
    CLOSED = "closed"  #: complete: its files can be read
    UPLOADING = "uploading"  #: closed, and copied to the output storage
    UPLOADED = "uploaded"  #: every file is on the output storage, and its checksum is right
    DELETING = "deleting"  #: its files are being deleted; nothing may read them
    DELETED = "deleted"  #: its files are deleted; the record stays

    @property
    def readable(self) -> bool:
        """Whether its files can be read."""
        return self in {DatasetState.CLOSED, DatasetState.UPLOADING, DatasetState.UPLOADED}


class ReplicaState(StrEnum):
    """The state of one copy of a file on one storage."""

    AVAILABLE = "available"  #: registered; no check has found it missing
    DELETING = "deleting"  #: to be deleted from its storage
    DELETED = "deleted"  #: deleted, or found missing when it was to be deleted


class StorageType(StrEnum):
    """The type of the data sets on a storage."""

    INPUT = "input"
    INTERMEDIATE = "intermediate"
    OUTPUT = "output"
    LOGS = "logs"


class TaskMode(StrEnum):
    """How the jobs of a task take files."""

    MAP = "map"  #: the tool runs on each file
    MERGE = "merge"  #: the tool joins groups of files


class InputMode(StrEnum):
    """What a job gets of a data set that its step reads."""

    EACH = "each"  #: the file with the number of the job (CWL ``scatter``, ``dotproduct``)
    ONE = "one"  #: the only file, the same for all jobs
    ALL = "all"  #: all files, or all files of its group, in order
    NONE = "none"  #: nothing: jobs are made of values


class EntryKind(StrEnum):
    """The form of one entry of a data set."""

    FILE = "file"  #: a plain file
    BUNDLE = "bundle"  #: a CWL value of another type with all its files, as one archive


class Pick(StrEnum):
    """The file of a data set for a tool that takes one file (CWL ``pickValue``)."""

    FIRST = "first_non_null"  #: the first file
    ONLY = "the_only_non_null"  #: the only file; a second one is an error


class DeviceType(StrEnum):
    """The device that a job needs."""

    CPU = "cpu"
    GPU = "gpu"


class ContainerEngine(StrEnum):
    """The program that runs containers on the node of a pilot."""

    DOCKER = "docker"
    PODMAN = "podman"
    APPTAINER = "apptainer"  #: also Singularity, its older name
    UDOCKER = "udocker"

    @property
    def label(self) -> str:
        """The name as its makers write it."""
        return self.value if self is ContainerEngine.UDOCKER else self.value.capitalize()


class SandboxKind(StrEnum):
    """What isolates the tools of jobs without a container from the rest of their node."""

    NAMESPACES = "namespaces"  #: bubblewrap, with the kernel's namespaces
    USERS = "users"  #: one user of the node for each slot; too weak for jobs that need a sandbox
    NONE = "none"


class TaskState(StrEnum):
    """The state of a task in the WMS."""

    WAITING = "waiting"  #: its input data set is not complete
    SPLITTING = "splitting"  #: its jobs are being created, and the first ones may run
    ACTIVE = "active"  #: all its jobs exist, except those of further levels of a tree
    FINISHED = "finished"  #: enough of its jobs succeeded
    FAILED = "failed"  #: too few jobs can still succeed, or its input cannot be used
    CANCELED = "canceled"  #: canceled by request

    @property
    def final(self) -> bool:
        """Whether no other state follows."""
        return self in {TaskState.FINISHED, TaskState.FAILED, TaskState.CANCELED}


class JobState(StrEnum):
    """The state of a job."""

    READY = "ready"  #: waits for a pilot, or for the end of the pause before its next attempt
    LEASED = "leased"  #: leased to a pilot until a time
    RUNNING = "running"  #: started, as its pilot reported
    FINISHED = "finished"  #: an attempt succeeded; its outputs go to the catalogue
    FAILED = "failed"  #: no attempt is left, or another attempt would not help
    CANCELED = "canceled"  #: canceled by request, or not needed any more
    QUARANTINED = "quarantined"  #: waits for a person after several lost attempts
    ASKED = "asked"  #: waits for annotations of people; no pilot leases it

    @property
    def final(self) -> bool:
        """Whether no other state follows, except after a retry that a person asks for."""
        return self in {JobState.FINISHED, JobState.FAILED, JobState.CANCELED}


class AttemptOutcome(StrEnum):
    """The end of an attempt, as its pilot reports it. The WMS itself finds ``lost``."""

    FINISHED = "finished"
    FAILED = "failed"
    CANCELED = "canceled"
    LOST = "lost"
    RETURNED = "returned"  #: given back by its pilot; not a failure of the job


class AttemptPhase(StrEnum):
    """What a pilot does with a job that has started."""

    STAGE_IN = "stage_in"  #: copies its inputs and the image of its container to the node
    RUN = "run"  #: runs its tool or evaluates its expressions
    STAGE_OUT = "stage_out"  #: copies its outputs to their storages


class ErrorClass(StrEnum):
    """Why an attempt did not succeed. What follows is in ``wms/domain/retry_rules.py``."""

    #: the tool exited with a code that is no success
    TOOL_FAILED = "tool_failed"
    #: the tool cannot succeed with this input, as by its permanentFailCodes: a retry does not help
    TOOL_REFUSED = "tool_refused"
    TOOL_TIMEOUT = "tool_timeout"  #: the tool ran longer than its time limit
    OUT_OF_MEMORY = "out_of_memory"  #: the job used more memory than it requested
    STAGE_IN_FAILED = "stage_in_failed"  #: an input could not be read
    CHECKSUM_MISMATCH = "checksum_mismatch"  #: an input has changed
    STAGE_OUT_FAILED = "stage_out_failed"  #: an output could not be written, or is missing
    #: a storage or the disk of the node was full: a transient error, not a fault of the job
    NO_SPACE = "no_space"
    #: its pilot was lost, or its node ran out of memory while the job kept to its request
    PILOT_LOST = "pilot_lost"
    CANCELED = "canceled"  #: somebody canceled the job
    INTERNAL = "internal"  #: an error of Sluice


class PilotState(StrEnum):
    """The state of a pilot."""

    ACTIVE = "active"  #: registered, and asks for jobs
    DRAINING = "draining"  #: finishes its jobs, and leases no new ones
    GONE = "gone"  #: signed off
    LOST = "lost"  #: not seen for too long


class ReportAnswer(StrEnum):
    """What a pilot's report has changed."""

    ACCEPTED = "accepted"
    ALREADY = "already"  #: a report on the attempt was accepted before
    STALE = "stale"  #: the lease had ended: nothing changed, and the pilot deletes its files


class ChainState(StrEnum):
    """The state of a chain."""

    IN_PROGRESS = "in_progress"  #: some steps have not ended
    UPLOADING = "uploading"  #: all steps finished; the output is being copied to the output storage
    FINISHED = "finished"  #: the output is on the output storage
    FAILED = "failed"  #: a step or an upload failed
    CANCELED = "canceled"  #: canceled by request

    @property
    def final(self) -> bool:
        """Whether no other state follows."""
        return self in {ChainState.FINISHED, ChainState.FAILED, ChainState.CANCELED}


class StepState(StrEnum):
    """The state of a step of a chain."""

    PENDING = "pending"  #: waits for upstream steps
    STARTING = "starting"  #: its data sets are being created
    IN_PROGRESS = "in_progress"  #: its task was sent to the WMS
    FINISHED = "finished"  #: its task finished
    FAILED = "failed"  #: its task failed, or could not be sent
    CANCELED = "canceled"  #: its task was canceled, or not sent because the chain ended

    @property
    def final(self) -> bool:
        """Whether no other state follows."""
        return self in {StepState.FINISHED, StepState.FAILED, StepState.CANCELED}


class ChainDatasetStatus(StrEnum):
    """The state of a data set in its chain."""

    IN_PROGRESS = "in_progress"  #: files are still being added
    READY = "ready"  #: complete, and still needed
    FINISHED = "finished"  #: not needed any more: released


class WatchState(StrEnum):
    """The state of a task or an upload that the watcher follows."""

    IN_PROGRESS = "in_progress"  #: not ended; the watcher asks again
    FINISHED = "finished"  #: the task finished, or the data set was uploaded
    FAILED = "failed"  #: the task or the upload failed
    CANCELED = "canceled"  #: the task was canceled, or not sent


class WatchKind(StrEnum):
    """What the watcher follows."""

    TASK = "task"  #: followed in the WMS
    UPLOAD = "upload"  #: followed in the DMS


class AskItemState(StrEnum):
    """The state of an item of a human task."""

    OPEN = "open"  #: waits for annotations
    DECIDED = "decided"  #: enough annotators agree; annotations can still be revoked
    DELIVERING = "delivering"  #: its annotations are final, and their file goes to the WMS
    DELIVERED = "delivered"  #: its job has finished
    WITHDRAWN = "withdrawn"  #: its task ended before, or its file cannot be shown

    @property
    def final(self) -> bool:
        """Whether no other state follows."""
        return self in {AskItemState.DELIVERED, AskItemState.WITHDRAWN}


class BrowserState(StrEnum):
    """Whether the annotations of a browser count."""

    COUNTED = "counted"  #: its annotations count
    EXCLUDED = "excluded"  #: excluded for careless annotations: none of them counts
