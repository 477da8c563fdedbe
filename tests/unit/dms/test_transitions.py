"""The life cycles of a data set and of a replica, all pairs."""

from itertools import product

import pytest

from dms.domain.transitions import DATASET_MOVES, REPLICA_MOVES
from sluice.contracts.states import DatasetState as D
from sluice.contracts.states import ReplicaState as R

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
def test_a_data_set_moves_only_where_it_may(before: D, after: D) -> None:
    assert (after in DATASET_MOVES[before]) == ((before, after) in LEGAL)


@pytest.mark.parametrize(("before", "after"), list(product(R, R)))
def test_a_replica_is_available_then_deleting_then_deleted(before: R, after: R) -> None:
    legal = (before, after) in {(R.AVAILABLE, R.DELETING), (R.DELETING, R.DELETED)}
    assert (after in REPLICA_MOVES[before]) == legal


def test_nothing_leads_out_of_deleted_and_everything_leads_there() -> None:
    assert DATASET_MOVES[D.DELETED] == frozenset()
    reached = {D.DELETED}
    while more := {state for state in D if DATASET_MOVES[state] & reached} - reached:
        reached |= more
    assert reached == set(D)
