"""What is told of an upload or a deletion that does not go on."""

from sluice.contracts.states import DatasetState

#: States in which a loop works on a data set, and what it does.
WORKS = {DatasetState.UPLOADING: "upload", DatasetState.DELETING: "deletion"}

#: Failures one after the other (a quarter of a minute) from which on a person should know.
LASTING = 5
#: Failures after which an empty storage is not taken for one that is not mounted any more.
LASTING_ON_EMPTY_STORAGE = 9


def failure_text(state: DatasetState, reason: str, *, halted: bool) -> str:
    """What follows "it waits for". Precondition: ``state`` is one of ``WORKS``."""
    if halted:
        return f"a person, for its {WORKS[state]} has stopped (`sluice dataset resume`): {reason}"
    return f"its {WORKS[state]}, which fails and is tried again: {reason}"
