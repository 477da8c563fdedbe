"""State transitions of data sets and replicas, for all pairs of states."""

from itertools import product

import pytest

from dms.domain.transitions import DATASET_MOVES, REPLICA_MOVES
from sluice.contracts.common.states import DatasetState as D
from sluice.contracts.common.states import ReplicaState as R

LEGAL = {
    (D.OPEN, D.CLOSED),
    (D.OPEN, D.DELETING),
    (D.CLOSED, D.UPLOADING),
    (D.CLOSED, D.DELETING),
    (D.UPLOADING, D.UPLOADED),
    (D.UPLOADING, D.DELETING),
    (D.UPLOADED, D.DELETING),
    (D.DELETING, D.DELETED),
}


@pytest.mark.parametrize(("before", "after"), list(product(D, D)))
def test_data_set_has_exactly_the_legal_transitions(before: D, after: D) -> None:
    assert (after in DATASET_MOVES[before]) == ((before, after) in LEGAL)


@pytest.mark.parametrize(("before", "after"), list(product(R, R)))
def test_replica_is_available_then_deleting_then_deleted(before: R, after: R) -> None:
    legal = (before, after) in {(R.AVAILABLE, R.DELETING), (R.DELETING, R.DELETED)}
    assert (after in REPLICA_MOVES[before]) == legal


def test_deleted_is_final_and_reachable_from_each_state() -> None:
    assert DATASET_MOVES[D.DELETED] == frozenset()
    reached = {D.DELETED}
    while more := {state for state in D if DATASET_MOVES[state] & reached} - reached:
        reached |= more
    assert reached == set(D)
