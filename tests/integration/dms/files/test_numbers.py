"""Each file of a data set has its own sequence number (invariant 8)."""

import asyncio

import pytest

from dms.usecases.files.register_files import register_files
from sluice.contracts.common.problems import Conflict, Unprocessable
from sluice.contracts.common.states import DatasetType
from sluice.contracts.data.datasets import NewFile
from sluice.contracts.messaging.messages import RegisterFiles
from tests.integration.dms.conftest import Dms


def make_file_with_same_number(
    dms: Dms, name: str, file: NewFile, type_: DatasetType = DatasetType.INTERMEDIATE
) -> NewFile:
    """Return another file with the sequence number of ``file``."""
    other = dms.write(name, file.seq + 100, type_=type_)
    return other.model_copy(update={"seq": file.seq})


async def test_taken_sequence_number_is_refused_with_both_file_names(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    first = dms.write("frames", 1)
    second = make_file_with_same_number(dms, "frames", first)
    await dms.client.register_many_files(uid, [first])
    with pytest.raises(
        Conflict,
        match=(f"file '{second.name}' has seq 1, which the registered file '{first.name}'"),
    ):
        await dms.client.register_many_files(uid, [dms.write("frames", 2), second])
    assert (await dms.client.get_dataset(uid)).count_files == 1, (
        "a part of the files was registered"
    )
    await dms.client.register_many_files(uid, [second.model_copy(update={"seq": 2}), first])
    assert [file.seq for file in (await dms.client.list_files(uid)).files] == [
        1,
        2,
    ], "the corrected files were not registered"


async def test_equal_sequence_numbers_in_a_request_are_refused_with_both_file_names(
    dms: Dms,
) -> None:
    uid = await dms.dataset("frames")
    first = dms.write("frames", 1)
    second = make_file_with_same_number(dms, "frames", first)
    with pytest.raises(
        Unprocessable,
        match=f"files '{first.name}' and '{second.name}' of the request have the same seq 1",
    ):
        await dms.client.register_many_files(uid, [first, second])
    assert (await dms.client.get_dataset(uid)).count_files == 0


async def test_concurrent_registrations_of_a_sequence_number_register_one_file(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    first = dms.write("frames", 1)
    second = make_file_with_same_number(dms, "frames", first)
    outcomes = await asyncio.gather(
        register_files(dms.context, uid, [first]),
        register_files(dms.other_context, uid, [second]),
        return_exceptions=True,
    )
    assert [isinstance(outcome, Conflict) for outcome in outcomes].count(True) == 1, outcomes
    assert (await dms.client.get_dataset(uid)).count_files == 1


async def test_file_shared_with_another_data_set_needs_a_free_sequence_number(dms: Dms) -> None:
    one, two = await dms.dataset("one"), await dms.dataset("two")
    shared, own = dms.write("one", 1), dms.write("two", 1)
    await dms.client.register_many_files(one, [shared])
    await dms.client.register_many_files(two, [own])
    with pytest.raises(Conflict, match=f"which the registered file '{own.name}'"):
        await dms.client.register_many_files(two, [shared.model_copy(update={"name": "shared"})])


async def test_message_with_a_taken_number_is_refused_and_a_repeated_message_is_not(
    dms: Dms,
) -> None:
    uid = await dms.dataset("set")
    first = dms.write("set", 1)
    message = RegisterFiles(dataset_uid=uid, files=[first])
    for _ in range(2):
        await dms.apply(message)
    with pytest.raises(Unprocessable, match="has seq 1, which the registered file"):
        await dms.apply(
            RegisterFiles(dataset_uid=uid, files=[make_file_with_same_number(dms, "set", first)])
        )


async def test_logs_of_several_attempts_have_the_sequence_number_of_their_job(dms: Dms) -> None:
    uid = await dms.dataset("logs", DatasetType.LOGS)
    first = dms.write("logs", 1, type_=DatasetType.LOGS)
    await dms.apply(RegisterFiles(dataset_uid=uid, files=[first]))
    await dms.apply(
        RegisterFiles(
            dataset_uid=uid,
            files=[make_file_with_same_number(dms, "logs", first, DatasetType.LOGS)],
        )
    )
    assert [file.seq for file in (await dms.client.list_files(uid)).files] == [1, 1]


async def test_file_with_a_taken_number_is_accepted_by_a_data_set_under_deletion(
    dms: Dms,
) -> None:
    uid, files = await dms.create_filled_dataset("set", 1, close=False)
    await dms.client.delete_dataset(uid)
    late = make_file_with_same_number(dms, "set", files[0])
    await dms.apply(RegisterFiles(dataset_uid=uid, files=[late]))
    states = await dms.fetch("SELECT state FROM replicas WHERE path LIKE $1", f"%/{late.name}")
    assert [row["state"] for row in states] == ["deleting"]
