"""The registration of files makes few system calls."""

import os
from typing import Any

import pytest

from tests.integration.dms.conftest import Dms


async def test_registration_makes_fewer_than_two_lstat_calls_per_file(
    dms: Dms, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine, a thread may wait for its turn after each system call."""
    uid = await dms.dataset("frames")
    files = [dms.write("frames", seq) for seq in range(100)]
    looks, lstat = list[Any](), os.lstat

    def count(path: Any, **options: Any) -> os.stat_result:
        looks.append(path)
        return lstat(path, **options)

    monkeypatch.setattr(os, "lstat", count)
    assert (await dms.client.register_many_files(uid, files)).new == len(files)
    assert len(files) <= len(looks) < 2 * len(files)
