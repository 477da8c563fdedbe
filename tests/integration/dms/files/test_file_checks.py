"""Files that clients register must exist with the announced size."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from dms.usecases.files.register_files import register_files
from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.messaging.messages import RegisterFiles
from tests.integration.dms.conftest import Dms


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (Path.unlink, "does not exist: write it before you register it"),
        (lambda path: path.write_text("shorter"), "has 7 bytes, not 8"),
        (make_folder, "is not a plain file"),
        (make_pipe, "is not a plain file"),
    ],
)
async def test_file_that_differs_from_its_registration_is_refused_by_name(
    dms: Dms, spoil: object, sentence: str
) -> None:
    uid = await dms.dataset("frames")
    good, file = dms.write("frames", 1), dms.write("frames", 2)
    spoil(dms.path("frames", file.name))  # type: ignore[operator]
    with pytest.raises(Unprocessable, match=f"file '{file.name}': file://.* {sentence}"):
        await dms.client.register_many_files(uid, [good, file])
    assert (await dms.client.get_dataset(uid)).count_files == 0, (
        "a part of the files was registered"
    )


async def test_known_file_may_be_missing(dms: Dms) -> None:
    uid, files = await dms.create_filled_dataset("frames", 2)
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    assert (await dms.client.register_many_files(uid, files)).known == 2


async def test_files_of_pilots_are_not_checked_again(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    file = dms.write("frames", 1)
    dms.path("frames", file.name).unlink()
    await dms.apply(RegisterFiles(dataset_uid=uid, files=[file]))
    other = dms.write("frames", 2).model_copy(update={"size": 1})
    trusting = replace(dms.context, verify_files=False)
    assert (await register_files(trusting, uid, [other])).new == 1, (
        "the setting did not disable the check"
    )
