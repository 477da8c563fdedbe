"""Versions of assets are stored completely, distinguished by content, and removed."""

import asyncio

import pytest
from httpx import ASGITransport, AsyncClient

from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.assets import PIECE
from tests.callers import allow_everybody
from tests.integration.assets.asset_services import (
    Assets,
    describe_asset,
    get_version,
    make_bound_plan,
    read_content,
)

TWO = {"config.ini": b"[a]", "words/cs.txt": b"slovo"}


async def test_version_appears_only_when_all_files_are_stored(assets: Assets) -> None:
    draft = await assets.begin("pero-cz", TWO, note="first")
    assert draft.uid is not None
    assert [(file.path, file.received) for file in draft.missing] == [
        ("config.ini", 0),
        ("words/cs.txt", 0),
    ]
    await assets.send_file("pero-cz", draft.uid, 0, TWO["config.ini"])
    with pytest.raises(
        Conflict, match=r"1 files of the version of asset .* have not been sent: words/cs\.txt"
    ):
        await assets.client.complete_asset("pero-cz", draft.uid)
    assert (await assets.client.list_assets()).assets == [], "an incomplete version is not listed"
    await assets.send_file("pero-cz", draft.uid, 1, TWO["words/cs.txt"])
    stored = await assets.client.complete_asset("pero-cz", draft.uid)
    assert (stored.version.version, stored.new, stored.newest) == (1, True, 1)
    assert stored.version.note == "first"
    assert await assets.client.complete_asset("pero-cz", draft.uid) == stored.model_copy(
        update={"new": False}
    ), "a repeated request returns the same version"
    [asset] = (await assets.client.list_assets()).assets
    assert asset.newest == stored.version
    dataset = await assets.wfms.dms.get_dataset(stored.version.dataset_uid)
    assert (dataset.state, dataset.count_files, dataset.on_demand) == (
        DatasetState.CLOSED,
        2,
        True,
    )


async def test_equal_content_is_the_same_version(assets: Assets) -> None:
    first = await assets.put("pero-cz", TWO)
    again = await assets.begin("pero-cz", dict(reversed(TWO.items())))
    assert again.uid is None
    assert again.version == first.version
    unknown = await assets.put("pero-cz", TWO, with_checksum=False)
    assert (unknown.version, unknown.new) == (first.version, False)
    await assets.run_loops()
    assert len(assets.stored(first.version)) == 2, "the superfluous files are deleted"
    other = await assets.put("pero-cz", TWO | {"config.ini": b"[b]"})
    assert (other.version.version, other.new) == (2, True)
    elsewhere = await assets.put("words", TWO)
    assert (elsewhere.version.version, elsewhere.new) == (1, True), "each name has its own versions"


async def test_files_of_an_existing_version_are_not_sent_again(assets: Assets) -> None:
    await assets.put("pero-cz", TWO)
    changed = TWO | {"config.ini": b"[b]"}
    draft = await assets.begin("pero-cz", changed)
    assert [file.path for file in draft.missing] == ["config.ini"]
    await assets.send("pero-cz", draft, changed)
    assert draft.uid is not None
    second = (await assets.client.complete_asset("pero-cz", draft.uid)).version
    await assets.client.remove_asset("pero-cz", version=1)
    await assets.run_loops()
    files = (await assets.wfms.dms.list_files(second.dataset_uid)).files
    for file in files:
        shared = changed[file.name.replace("%2F", "/")]
        assert read_content(file) == shared, "a shared file is kept while a version has it"


async def test_interrupted_upload_is_resumed(assets: Assets) -> None:
    data = bytes(1000)
    files = {"model.pt": data, "words.txt": b"w"}
    draft = await assets.begin("big", files)
    assert draft.uid is not None
    await assets.client.send_asset_piece("big", draft.uid, 0, data[:600], offset=0)
    again = await assets.begin("big", files)
    assert again.uid == draft.uid
    assert [file.received for file in again.missing] == [600, 0]
    await assets.client.send_asset_piece("big", draft.uid, 0, data[600:], offset=600)
    await assets.client.complete_asset_file("big", draft.uid, number=0)
    assert [file.path for file in (await assets.begin("big", files)).missing] == ["words.txt"]


async def test_file_with_a_wrong_checksum_is_refused(assets: Assets) -> None:
    draft = await assets.begin("model", {"model.pt": b"right"})
    assert draft.uid is not None
    with pytest.raises(Unprocessable, match="has not arrived as it was announced"):
        await assets.send_file("model", draft.uid, 0, b"wrong")
    with pytest.raises(Conflict, match="have not been sent"):
        await assets.client.complete_asset("model", draft.uid)


async def test_concurrent_uploads_make_one_version_for_each_content(assets: Assets) -> None:
    same = await asyncio.gather(*(assets.put("same", TWO) for _ in range(4)))
    assert {stored.version.version for stored in same} == {1}
    apart = await asyncio.gather(
        *(
            assets.put("apart", {"model.pt": bytes([n])}, with_checksum=bool(n % 2))
            for n in range(6)
        )
    )
    assert sorted(stored.version.version for stored in apart) == [1, 2, 3, 4, 5, 6]
    twins = await asyncio.gather(
        *(assets.put("twins", {"model.pt": b"m"}, with_checksum=False) for _ in range(3))
    )
    assert len({stored.version.dataset_uid for stored in twins}) == 1
    assert sum(stored.new for stored in twins) == 1


async def test_removed_version_can_be_stored_again(assets: Assets) -> None:
    first = await assets.put_version("model", b"a")
    second = await assets.put_version("model", b"b")
    assert (await assets.put("model", {"model.pt": b"a"})).version == first
    removed = await assets.client.remove_asset("model", version=2)
    assert [each.version for each in removed.removed] == [2]
    assert removed.kept == []
    asset = await assets.client.get_asset("model")
    assert asset.newest == first
    assert asset.versions[0].removed_at is not None
    await assets.run_loops()
    assert assets.stored(second) == {"model.pt": b"a"}
    third = await assets.put_version("model", b"b")
    assert third.version == 3, "a version number is not used again"
    for taken, why in ((2, "is already withdrawn"), (7, "there is no version 7")):
        with pytest.raises(NotFound, match=rf"{why}.*`sluice asset show model`"):
            await assets.client.remove_asset("model", version=taken)
    for version in (None, 1):
        with pytest.raises(NotFound, match=r"there is no asset 'nothing' \(`sluice asset list`"):
            await assets.client.remove_asset("nothing", version=version)


async def test_removed_version_is_kept_until_its_chains_have_ended(assets: Assets) -> None:
    version = await assets.put_version("model", b"a")
    chain = await assets.chain("one", make_bound_plan("asset:model"))
    assert get_version(chain) == "model@1"
    removed = await assets.client.remove_asset("model")
    [kept_version] = removed.kept
    assert [using.uid for using in kept_version.chains] == [chain.uid]
    with pytest.raises(Unprocessable, match="has no version left"):
        await assets.chain("two", make_bound_plan("asset:model"))
    await assets.run_loops()
    assert assets.stored(version), "the files are kept"
    uses = await assets.client.list_asset_uses("model")
    assert [using.uid for using in uses.versions[0].chains] == [chain.uid]
    await assets.wfms.chains.cancel_chain(chain.uid)
    await assets.wfms.run_loops()
    await assets.run_loops()
    assert not assets.stored(version)
    assert (await assets.client.get_asset("model")).versions[0].deleted_at is not None


async def test_data_set_of_an_asset_cannot_be_deleted_or_used_directly(assets: Assets) -> None:
    version = await assets.put_version("model", b"a")
    for services in (assets.wfms.chains, assets.wfms.dms):
        for force in (False, True):
            with pytest.raises(Conflict, match=r"asset 'model'.*sluice asset remove model@VERSION"):
                await services.delete_dataset(version.dataset_uid, force=force)
    await assets.run_loops()
    assert assets.stored(version) == {"model.pt": b"a"}
    dataset = await assets.wfms.dms.get_dataset(version.dataset_uid)
    with pytest.raises(Unprocessable, match="contains the asset model: give it to a chain"):
        await assets.wfms.create_chain(
            dataset, assets.wfms.add_template(make_bound_plan("asset:model"))
        )


async def test_invalid_names_paths_and_sizes_are_refused(assets: Assets) -> None:
    with pytest.raises(Unprocessable, match="an asset's name"):
        await assets.begin("no name", TWO)
    http = AsyncClient(
        transport=ASGITransport(allow_everybody(assets.app)), base_url="http://operator.test"
    )
    async with http:
        for path in ("../up", "/root", "a//b", "", "a/./b", "%2e%2e/x"):
            body = {"files": [{"path": path, "size": 1}]}
            answer = await http.post("/api/v1/assets/model/drafts", json=body)
            assert answer.status_code == 422, path
        draft = await assets.begin("model", {"a": b"1"})
        too_large = await http.put(
            f"/api/v1/assets/model/drafts/{draft.uid}/files/0?offset=0",
            content=bytes(PIECE + 1),
        )
        assert too_large.status_code == 413
    for name, number in (("model", 1), ("other", 0)):
        assert draft.uid is not None
        with pytest.raises(NotFound, match="has no upload with the id"):
            await assets.client.send_asset_piece(name, draft.uid, number, b"1", offset=0)
    assert describe_asset({"a": b"1"}).files[0].path == "a"
