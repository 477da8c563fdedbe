"""What looking at files before their registration costs."""

import os
from typing import Any

import pytest

from tests.integration.dms.conftest import Dms


async def test_folders_of_many_files_are_looked_at_once(
    dms: Dms, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a thread may wait for its turn after each call of the operating system."""
    uid = await dms.dataset("frames")
    files = [dms.write("frames", seq) for seq in range(100)]
    looks, lstat = list[Any](), os.lstat

    def count(path: Any, **options: Any) -> os.stat_result:
        looks.append(path)
        return lstat(path, **options)

    monkeypatch.setattr(os, "lstat", count)
    assert (await dms.client.register_files(uid, files)).new == len(files)
    assert len(files) <= len(looks) < 2 * len(files)
