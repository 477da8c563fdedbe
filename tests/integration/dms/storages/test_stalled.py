"""Uploads and deletions that do not go on show the reason."""

from uuid import UUID

from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.usecases.uploads.upload_next_dataset import upload_next_dataset
from sluice.contracts.common.states import DatasetState, StorageType
from sluice.contracts.messaging.messages import UploadDataset
from tests.integration.dms.conftest import Dms

DISABLED = (
    "no storage of type output can take it: output-1 is disabled (`sluice storage enable output-1`)"
)


async def fail_upload(dms: Dms, uid: UUID, *, times: int) -> None:
    for _ in range(times):
        await dms.fetch("UPDATE datasets SET retry_at = now() WHERE uid = $1", uid)
        assert await upload_next_dataset(dms.context)


async def get_reason_for_waiting(dms: Dms, uid: UUID) -> str | None:
    return (await dms.client.get_dataset_status(uid)).waits_for


async def test_upload_to_a_disabled_storage_shows_the_remedy_and_then_goes_on(
    dms: Dms,
) -> None:
    name = dms.storages[StorageType.OUTPUT].name
    await dms.client.disable_storage(name)
    uid, _ = await dms.create_filled_dataset("result")
    await dms.apply(UploadDataset(uid=uid))
    assert await get_reason_for_waiting(dms, uid) is None, (
        "an upload without an attempt shows a reason"
    )
    await fail_upload(dms, uid, times=4)
    assert (
        await get_reason_for_waiting(dms, uid)
        == f"its upload, which fails and is tried again: {DISABLED}"
    )
    assert (await dms.client.list_stalled_transfers()).stalled == [], (
        "a transient failure is shown as stalled"
    )
    await fail_upload(dms, uid, times=1)
    other, _ = await dms.create_filled_dataset("another")
    await dms.apply(UploadDataset(uid=other))
    await fail_upload(dms, other, times=5)
    [one] = (await dms.client.list_stalled_transfers()).stalled
    row = await dms.row(uid)
    assert (one.state, one.reason, one.halted, one.first.uid, one.number) == (
        DatasetState.UPLOADING,
        DISABLED,
        False,
        uid,
        2,
    )
    assert one.since == max(row["closed_at"], row["upload_requested_at"])
    await dms.client.enable_storage(name)
    assert await upload_next_dataset(dms.context), "the upload still pauses"
    assert await upload_next_dataset(dms.context)
    assert [(await dms.client.get_dataset(dataset_uid)).state for dataset_uid in (uid, other)] == [
        DatasetState.UPLOADED
    ] * 2
    assert await get_reason_for_waiting(dms, uid) is None
    assert (await dms.client.list_stalled_transfers()).stalled == []


async def test_halted_deletion_is_shown_as_waiting_for_a_person(dms: Dms) -> None:
    uid, [file] = await dms.create_filled_dataset("result", 1)
    (dms.folder / "elsewhere").mkdir()
    folder = dms.path("result", "")
    dms.path("result", file.name).rename(dms.folder / "elsewhere" / file.name)
    folder.rmdir()
    folder.symlink_to(dms.folder / "elsewhere")
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    [one] = (await dms.client.list_stalled_transfers()).stalled
    assert (one.state, one.halted, one.number, one.since) == (DatasetState.DELETING, True, 1, None)
    waits = await get_reason_for_waiting(dms, uid)
    assert (
        waits
        == f"a person, because its deletion has stopped (`sluice dataset resume`): {one.reason}"
    )


async def test_reasons_beyond_the_limit_are_counted(dms: Dms) -> None:
    uids = [(await dms.create_filled_dataset(f"result-{number}", 1))[0] for number in range(3)]
    for number, uid in enumerate(uids):
        await dms.apply(UploadDataset(uid=uid))
        await dms.fetch(
            "UPDATE datasets SET failures = 9, reason = $2 WHERE uid = $1",
            uid,
            f"reason {number // 2}",
        )
    stalled = await dms.client.list_stalled_transfers(limit=1)
    assert [(one.reason, one.number) for one in stalled.stalled] == [("reason 0", 2)]
    assert stalled.more == 1
    await dms.fetch(
        "UPDATE datasets SET claim_token = uid, claim_until = now() + interval '1 minute' WHERE uid"
        " = $1",
        uids[2],
    )
    assert (await dms.client.list_stalled_transfers(limit=1)).more == 0, (
        "a claimed upload is shown as stalled"
    )
