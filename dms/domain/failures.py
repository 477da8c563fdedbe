"""Descriptions of uploads and deletions that make no progress."""

from sluice.contracts.common.states import DatasetState

#: States in which a loop works on a data set, with the word for the work.
WORKS = {DatasetState.UPLOADING: "upload", DatasetState.DELETING: "deletion"}

#: Number of successive failures (about 15 seconds) from which an operator should know.
ATTEMPTS_BEFORE_NOTICE = 5
#: Number of failures from which an empty storage no longer counts as unmounted.
ATTEMPTS_BEFORE_NOTICE_ON_EMPTY_STORAGE = 9


def failure_text(state: DatasetState, reason: str, *, halted: bool) -> str:
    """Return the end of the sentence "it waits for …"; ``state`` must be one of ``WORKS``."""
    if halted:
        return (
            f"a person, because its {WORKS[state]} has stopped (`sluice dataset resume`): {reason}"
        )
    return f"its {WORKS[state]}, which fails and is tried again: {reason}"
