"""Legal moves of a data set and of a file's replica. Diagrams and the all-pairs tests are made from
these tables."""

from sluice.contracts.states import DatasetState as D
from sluice.contracts.states import ReplicaState as R

DATASET_MOVES: dict[D, frozenset[D]] = {
    D.OPEN: frozenset({D.CLOSED, D.DELETING}),
    D.CLOSED: frozenset({D.UPLOADING, D.DELETING}),
    D.UPLOADING: frozenset({D.UPLOADED, D.DELETING}),
    D.UPLOADED: frozenset({D.DELETING}),
    D.DELETING: frozenset({D.DELETED}),
    D.DELETED: frozenset(),
}

REPLICA_MOVES: dict[R, frozenset[R]] = {
    R.AVAILABLE: frozenset({R.DELETING}),
    R.DELETING: frozenset({R.DELETED}),
    R.DELETED: frozenset(),
}


def sources(target: D) -> list[D]:
    """The states from which a data set may move to ``target``: what guards the UPDATE."""
    return [state for state, targets in DATASET_MOVES.items() if target in targets]


def replica_sources(target: R) -> list[R]:
    return [state for state, targets in REPLICA_MOVES.items() if target in targets]
