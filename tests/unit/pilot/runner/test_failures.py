"""Where there is no room, the job is not at fault: it waits, and its attempts are not used up."""

import errno
import os

import pytest

from pilot.runner.failures import node_error, stage_in_error, stage_out_error
from sluice.contracts.room import FullStorage
from sluice.contracts.states import ErrorClass
from sluice.storage import StorageFull, StorageUnavailable


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_from_other_faults_of_the_node(number: int) -> None:
    assert (
        node_error(OSError(number, os.strerror(number), "/jobs/in")).error_class
        is ErrorClass.NO_ROOM
    )
    assert (
        node_error(OSError(errno.EIO, "broken", "/jobs/in")).error_class
        is ErrorClass.STAGE_IN_FAILED
    )


def test_a_full_storage_is_told_from_one_that_is_away() -> None:
    for classify in (stage_in_error, stage_out_error):
        assert classify("a.dat", StorageFull("file:///out/a.dat")).error_class is ErrorClass.NO_ROOM
    full = stage_out_error("a.dat", StorageFull("file:///out/a.dat"), needed=7)
    assert full.no_room == FullStorage(storage="file:///out/a.dat", needed=7), (
        "the task waits for it"
    )
    assert stage_in_error("a.dat", StorageFull("file:///out/a.dat")).no_room is None
    away = StorageUnavailable("s3://out/a.dat", "does not answer")
    assert stage_out_error("a.dat", away).error_class is ErrorClass.STAGE_OUT_FAILED
    assert stage_in_error("a.dat", away).error_class is ErrorClass.STAGE_IN_FAILED
