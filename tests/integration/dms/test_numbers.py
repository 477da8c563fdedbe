"""Each file of a data set has a number of its own (invariant 8), however two come to have one."""

import asyncio

import pytest

from dms.usecases.register_files import register_files
from sluice.contracts.datasets import NewFile
from sluice.contracts.messages import RegisterFiles
from sluice.contracts.problems import Conflict, Unprocessable
from sluice.contracts.states import DatasetType
from tests.integration.dms.conftest import Dms


def twin(
    dms: Dms, name: str, file: NewFile, type_: DatasetType = DatasetType.INTERMEDIATE
) -> NewFile:
    """Another file with the number of ``file``."""
    other = dms.write(name, file.seq + 100, type_=type_)
    return other.model_copy(update={"seq": file.seq})


async def test_a_number_that_another_file_has_is_refused_naming_both(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    first = dms.write("frames", 1)
    second = twin(dms, "frames", first)
    await dms.client.register_files(uid, [first])
    with pytest.raises(
        Conflict,
        match=(
            f"file '{second.name}' has seq 1, which is that of the registered file '{first.name}'"
        ),
    ):
        await dms.client.register_files(uid, [dms.write("frames", 2), second])
    assert (await dms.client.dataset(uid)).count_files == 1, "all or nothing"
    await dms.client.register_files(uid, [second.model_copy(update={"seq": 2}), first])
    assert [file.seq for file in (await dms.client.files(uid)).files] == [
        1,
        2,
    ], "and it can be put right"


async def test_two_files_of_one_request_with_one_number_are_refused_naming_both(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    first = dms.write("frames", 1)
    second = twin(dms, "frames", first)
    with pytest.raises(
        Unprocessable,
        match=f"files '{first.name}' and '{second.name}' of the request have the same seq 1",
    ):
        await dms.client.register_files(uid, [first, second])
    assert (await dms.client.dataset(uid)).count_files == 0


async def test_of_two_files_with_one_number_that_come_at_once_one_is_registered(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    first = dms.write("frames", 1)
    second = twin(dms, "frames", first)
    outcomes = await asyncio.gather(
        register_files(dms.context, uid, [first]),
        register_files(dms.other_context, uid, [second]),
        return_exceptions=True,
    )
    assert [isinstance(outcome, Conflict) for outcome in outcomes].count(True) == 1, outcomes
    assert (await dms.client.dataset(uid)).count_files == 1


async def test_a_file_shared_with_another_data_set_needs_a_free_number_too(dms: Dms) -> None:
    one, two = await dms.dataset("one"), await dms.dataset("two")
    shared, own = dms.write("one", 1), dms.write("two", 1)
    await dms.client.register_files(one, [shared])
    await dms.client.register_files(two, [own])
    with pytest.raises(Conflict, match=f"which is that of the registered file '{own.name}'"):
        await dms.client.register_files(two, [shared.model_copy(update={"name": "shared"})])


async def test_a_message_with_a_number_that_is_taken_is_put_aside_and_a_repeated_one_is_not(
    dms: Dms,
) -> None:
    uid = await dms.dataset("set")
    first = dms.write("set", 1)
    message = RegisterFiles(dataset_uid=uid, files=[first])
    for _ in range(2):
        await dms.apply(message)
    with pytest.raises(Unprocessable, match="has seq 1, which is that of the registered file"):
        await dms.apply(RegisterFiles(dataset_uid=uid, files=[twin(dms, "set", first)]))


async def test_logs_of_several_attempts_at_a_job_bear_its_number(dms: Dms) -> None:
    uid = await dms.dataset("logs", DatasetType.LOGS)
    first = dms.write("logs", 1, type_=DatasetType.LOGS)
    await dms.apply(RegisterFiles(dataset_uid=uid, files=[first]))
    await dms.apply(
        RegisterFiles(dataset_uid=uid, files=[twin(dms, "logs", first, DatasetType.LOGS)])
    )
    assert [file.seq for file in (await dms.client.files(uid)).files] == [1, 1]


async def test_files_of_a_data_set_that_is_being_deleted_are_taken_whatever_their_number(
    dms: Dms,
) -> None:
    uid, files = await dms.filled("set", 1, close=False)
    await dms.client.delete_dataset(uid)
    late = twin(dms, "set", files[0])
    await dms.apply(RegisterFiles(dataset_uid=uid, files=[late]))
    states = await dms.fetch("SELECT state FROM replicas WHERE path LIKE $1", f"%/{late.name}")
    assert [row["state"] for row in states] == ["deleting"]
