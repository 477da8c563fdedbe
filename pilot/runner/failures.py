"""Failures of an attempt: their class and a sentence for people."""

from pilot.isolation.sandbox.sandbox_instance import SandboxError
from pilot.isolation.users.programs import SlotUserError
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.data.storage_space import FullStorage
from sluice.storage import ChecksumMismatch, FileMissing, StorageError, StorageFull, is_full
from sluice.text.os_errors import os_error_sentence
from sluice.text.visible_text import quoted


class AttemptError(Exception):
    """The attempt has failed.

    ``exit_code`` is the exit code of a tool that ended by itself. ``gpu_full`` says that its GPU
    had no memory left. ``no_space`` is the storage that was full.
    """

    def __init__(
        self,
        error_class: ErrorClass,
        message: str,
        *,
        exit_code: int | None = None,
        gpu_full: bool = False,
        no_space: FullStorage | None = None,
    ) -> None:
        super().__init__(message)
        self.error_class = error_class
        self.message = message
        self.exit_code = exit_code
        self.gpu_full = gpu_full
        self.no_space = no_space


class AttemptStoppedError(Exception):
    """The pilot wants this attempt to stop."""


def sandbox_error(error: SandboxError) -> AttemptError:
    """Return the failure for a broken sandbox. Another node may succeed."""
    sentence = f"the sandbox could not be prepared: {error}"
    return AttemptError(ErrorClass.STAGE_IN_FAILED, sentence)


def user_error(error: SlotUserError) -> AttemptError:
    """Return the failure for a user that does not work. Another node may succeed."""
    sentence = f"the tool could not be started as a separate user: {error}"
    return AttemptError(ErrorClass.STAGE_IN_FAILED, sentence)


def stage_in_error(name: str, error: StorageError) -> AttemptError:
    """Return the failure for an input file that could not be staged in."""
    if isinstance(error, FileMissing):
        return AttemptError(
            ErrorClass.STAGE_IN_FAILED, f"input file {quoted(name)} is no longer there: {error.url}"
        )
    if isinstance(error, ChecksumMismatch):
        sentence = (
            f"input file {quoted(name)} is not the one registered: expected {error.expected}, found"
            f" {error.actual} at {error.url}"
        )
        return AttemptError(ErrorClass.CHECKSUM_MISMATCH, sentence)
    if isinstance(error, StorageFull):
        return AttemptError(
            ErrorClass.NO_SPACE, f"no space on the pilot's node for input file {quoted(name)}"
        )
    return AttemptError(
        ErrorClass.STAGE_IN_FAILED, f"input file {quoted(name)} could not be read: {error}"
    )


def stage_out_error(name: str, error: StorageError, *, needed_bytes: int = 0) -> AttemptError:
    """Return the failure for an output file that could not be staged out.

    ``needed_bytes`` is the size of all outputs of the job in bytes.
    """
    if isinstance(error, StorageFull):
        return AttemptError(
            ErrorClass.NO_SPACE,
            f"no space for output file {quoted(name)}: the storage at {error.url} is full",
            no_space=FullStorage(storage=error.url, needed=needed_bytes),
        )
    return AttemptError(
        ErrorClass.STAGE_OUT_FAILED, f"output file {quoted(name)} could not be written: {error}"
    )


def node_error(error: OSError) -> AttemptError:
    """Return the failure for an error of the node, such as a full disk or a missing folder."""
    error_class = ErrorClass.NO_SPACE if is_full(error) else ErrorClass.STAGE_IN_FAILED
    return AttemptError(
        error_class, f"the pilot's node could not prepare the job: {os_error_sentence(error)}"
    )
