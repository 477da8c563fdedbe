"""Tests of how errors are classified when a disk or a storage is full: the job waits and keeps its
attempts."""

import errno
import os

import pytest

from pilot.runner.failures import node_error, stage_in_error, stage_out_error
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.data.storage_space import FullStorage
from sluice.storage import StorageFull, StorageUnavailable


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_has_its_own_error_class(number: int) -> None:
    assert (
        node_error(OSError(number, os.strerror(number), "/jobs/in")).error_class
        is ErrorClass.NO_SPACE
    )
    assert (
        node_error(OSError(errno.EIO, "broken", "/jobs/in")).error_class
        is ErrorClass.STAGE_IN_FAILED
    )


def test_error_of_the_node_names_the_file_and_the_reason() -> None:
    error = OSError(errno.EIO, os.strerror(errno.EIO), "/jobs/in\x1b")
    assert node_error(error).message == (
        r"the pilot's node could not prepare the job: /jobs/in\x1b: Input/output error"
    )


def test_full_storage_and_unavailable_storage_have_different_error_classes() -> None:
    for classify in (stage_in_error, stage_out_error):
        assert (
            classify("a.dat", StorageFull("file:///out/a.dat")).error_class is ErrorClass.NO_SPACE
        )
    full = stage_out_error("a.dat", StorageFull("file:///out/a.dat"), needed_bytes=7)
    assert full.no_space == FullStorage(storage="file:///out/a.dat", needed=7), (
        "the task waits until the storage has space"
    )
    assert stage_in_error("a.dat", StorageFull("file:///out/a.dat")).no_space is None
    away = StorageUnavailable("s3://out/a.dat", "does not answer")
    assert stage_out_error("a.dat", away).error_class is ErrorClass.STAGE_OUT_FAILED
    assert stage_in_error("a.dat", away).error_class is ErrorClass.STAGE_IN_FAILED
