"""Legal state transitions of data sets and replicas.

The diagrams, and the tests of all pairs of states, are made from these tables.
"""

from sluice.contracts.common.life_cycles import Moves
from sluice.contracts.common.states import DatasetState as D
from sluice.contracts.common.states import ReplicaState as R

DATASET_MOVES: Moves[D] = {
    D.OPEN: frozenset({D.CLOSED, D.DELETING}),
    D.CLOSED: frozenset({D.UPLOADING, D.DELETING}),
    D.UPLOADING: frozenset({D.UPLOADED, D.DELETING}),
    D.UPLOADED: frozenset({D.DELETING}),
    D.DELETING: frozenset({D.DELETED}),
    D.DELETED: frozenset(),
}

REPLICA_MOVES: Moves[R] = {
    R.AVAILABLE: frozenset({R.DELETING}),
    R.DELETING: frozenset({R.DELETED}),
    R.DELETED: frozenset(),
}
