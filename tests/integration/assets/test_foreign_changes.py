"""Nobody changes the files of an asset beside its upload, and nobody blocks an upload."""

import hashlib
from itertools import product
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from dms.usecases.files.apply_registration import apply_registration
from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Conflict, Unprocessable
from sluice.contracts.data.asset_refs import MARK, file_name_of
from sluice.contracts.data.assets import AssetFile, NewAsset, NewAssetFile, compute_digest
from sluice.contracts.data.datasets import NewDataset, NewFile
from sluice.contracts.messaging.messages import RegisterFiles
from sluice.servicekit.access.principal import Person
from tests.integration.assets.asset_services import Assets, Files, describe_asset, read_content

ANNA = Person("anna", Role.SUBMITTER, ("alpha",))
BO = Person("bo", Role.SUBMITTER, ("beta",))
BEA = Person("bea", Role.SHIFT, ("beta",))
ROOT = Person("root", Role.ADMIN)

GOOD, EVIL = b"good model", b"evil model"
MODEL = {"model.pt": GOOD}


def compute_checksum(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def derive_dataset_name(name: str, files: Files, number: int) -> str:
    """Return the name of the data set of an upload, which everybody can compute."""
    digest = compute_digest(
        AssetFile(path=path, size=len(data), checksum=compute_checksum(data))
        for path, data in files.items()
    )
    return f"asset.{name}.{digest[:24]}.{number}"


def write_evil_file(
    folder: Path, name: str = "model.pt", data: bytes = EVIL, seq: int = 0
) -> NewFile:
    path = folder / "input" / "evil" / f"{name}-{compute_checksum(data)[-8:]}"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return NewFile(
        seq=seq, name=name, size=len(data), checksum=compute_checksum(data), url=f"file://{path}"
    )


async def put_in(assets: Assets, dataset: UUID, *files: NewFile) -> None:
    """Register files in the data set of a draft without a request."""
    async with assets.wfms.dms_database.transaction() as transaction:
        message = RegisterFiles(dataset_uid=dataset, files=list(files))
        await apply_registration(transaction, message)


async def read_contents(assets: Assets, dataset: UUID) -> dict[str, bytes]:
    files = (await assets.wfms.dms.list_files(dataset)).files
    return {file.name: read_content(file) for file in files}


async def test_no_person_fills_closes_or_shares_the_data_set_of_a_draft(
    assets: Assets, subtests: pytest.Subtests
) -> None:
    hers = assets.by(ANNA)
    draft = await hers.begin("model", MODEL)
    assert draft.uid is not None
    path = f"/api/v1/datasets/{draft.uid}"
    file = write_evil_file(assets.wfms.folder).model_dump(mode="json")
    callers = list(product(["wfms.operator", "dms"], [BO, BEA, ANNA, ROOT]))
    for service, person in callers:
        http = assets.wfms.links.http_of(person, service)
        requests: list[tuple[str, str, Any]] = [
            ("POST", "/files", {"files": [file]}),
            ("POST", "/files", {"files": [{**file, "name": "other"}]}),
            ("POST", "/close", {"files": 0}),
            ("POST", "/close", {"files": 1}),
        ]
        if person.role.includes(Role.SHIFT):
            requests.append(("PUT", "/share", {"shared_with": [], "group": person.own_group}))
        with subtests.test(service=service, person=person.name):
            assert (await http.get(path)).status_code == 200
            for method, rest, body in requests:
                refused = await http.request(method, path + rest, json=body)
                assert refused.status_code == 403, (rest, refused.text)
                assert "sluice asset put model" in refused.json()["detail"]

    await hers.send("model", draft, MODEL)
    stored = await hers.client.complete_asset("model", draft.uid)
    assert await read_contents(assets, stored.version.dataset_uid) == MODEL
    for service, person in callers:
        with subtests.test("after completion", service=service, person=person.name):
            http = assets.wfms.links.http_of(person, service)
            assert (await http.post(f"{path}/close", json={"files": 1})).status_code == 403


@pytest.mark.parametrize("service", ["wfms.operator", "dms"])
async def test_upload_is_not_blocked_by_a_person_who_wants_its_name_or_folder(
    assets: Assets, service: str
) -> None:
    http = assets.wfms.links.http_of(BO, service)
    root = f"file://{assets.wfms.folder}/input"
    label = derive_dataset_name("model", MODEL, 0)
    for new in (
        {"name": label},
        {"name": label, "group": "everyone", "on_demand": True, "url": f"{root}/{label}"},
        {"name": "a", "url": f"{root}/{label}"},
        {"name": "b", "url": f"{root}/{label}/below"},
        {"name": "c", "meta": {MARK: "model"}},
        {"name": "d", "meta": {f"{MARK}.version": 1}},
    ):
        refused = await http.post("/api/v1/datasets", json=new)
        assert refused.status_code == 422, refused.text
        assert "reserved" in refused.text or "which the system sets itself" in refused.text
    own = (await http.post("/api/v1/datasets", json={"name": "own"})).json()["uid"]
    file = write_evil_file(assets.wfms.folder).model_dump(mode="json")
    for change in ({"url": f"{root}/{label}/model.pt"}, {"meta": {MARK: "model"}}):
        body = {"files": [{**file, **change}]}
        refused = await http.post(f"/api/v1/datasets/{own}/files", json=body)
        assert refused.status_code == 422, refused.text

    stored = await assets.by(ANNA).put("model", MODEL)
    dataset = await assets.wfms.dms.get_dataset(stored.version.dataset_uid)
    assert (dataset.name, dataset.owner) == (label, "anna")


async def test_upload_skips_data_sets_that_are_not_its_own(assets: Assets) -> None:
    """Such data sets may be older than the reservation of their names."""
    root = f"file://{assets.wfms.folder}/input"
    labels = [derive_dataset_name("model", MODEL, number) for number in range(7)]
    urls = [f"{root}/{label}" for label in labels]
    marked: dict[str, Any] = {"meta": {MARK: "model"}, "on_demand": True}
    evil = [
        NewDataset(name=labels[0], url=urls[0], group="beta"),
        NewDataset(name=labels[1], url=urls[1], group="everyone", on_demand=True),
        NewDataset(name=labels[2], url=urls[2], group="beta", **marked),
        NewDataset(name=labels[3], url=urls[3], meta={MARK: "other"}, on_demand=True),
        NewDataset(name="another", url=urls[4], group="beta"),
        NewDataset(name=labels[5], url=urls[5], group="everyone", **marked),
    ]
    uids = [(await assets.wfms.dms.register_dataset(new)).uid for new in evil]
    for number in (1, 5):
        await put_in(assets, uids[number], write_evil_file(assets.wfms.folder))

    stored = await assets.by(ANNA).put("model", MODEL)

    dataset = await assets.wfms.dms.get_dataset(stored.version.dataset_uid)
    assert dataset.name == labels[6]
    assert await read_contents(assets, dataset.uid) == MODEL


async def test_upload_succeeds_if_all_derived_names_are_taken(assets: Assets) -> None:
    for number in range(20):
        new = NewDataset(name=derive_dataset_name("model", MODEL, number), group="beta")
        await assets.wfms.dms.register_dataset(new)
    stored = await assets.by(ANNA).put("model", MODEL)
    assert await read_contents(assets, stored.version.dataset_uid) == MODEL


async def test_draft_that_was_registered_by_the_general_route_is_continued(assets: Assets) -> None:
    label = derive_dataset_name("model", MODEL, 0)
    new = NewDataset(
        name=label,
        meta={MARK: "model"},
        on_demand=True,
        url=f"file://{assets.wfms.folder}/input/{label}",
        group="everyone",
    )
    registered = await assets.wfms.dms.register_dataset(new)
    first = (await assets.by(ANNA).put("model", MODEL)).version
    assert first.dataset_uid == registered.uid
    second = (await assets.by(ANNA).put("model", MODEL | {"words": b"w"})).version
    assert second.version == 2
    await assets.by(Person("al", Role.SHIFT, ("alpha",))).client.remove_asset("model", version=1)
    await assets.run_loops()
    assert (await assets.client.get_asset("model")).versions[1].deleted_at is not None
    contents = await read_contents(assets, second.dataset_uid)
    assert contents == MODEL | {"words": b"w"}


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("model.pt", EVIL, "'model.pt' has another checksum"),
        ("model.pt", b"longer than it", "'model.pt' has 14 bytes instead of 10"),
        ("extra/words", b"w", "'extra/words' was not announced"),
    ],
)
async def test_version_with_other_files_than_announced_is_refused(
    assets: Assets, name: str, data: bytes, complaint: str
) -> None:
    hers = assets.by(ANNA)
    draft = await hers.begin("model", MODEL)
    assert draft.uid is not None
    extra = name != "model.pt"
    if extra:
        await hers.send("model", draft, MODEL)
    await put_in(
        assets, draft.uid, write_evil_file(assets.wfms.folder, file_name_of(name), data, int(extra))
    )
    if not extra:
        with pytest.raises(Conflict):
            await hers.send_file("model", draft.uid, 0, GOOD)

    with pytest.raises(Conflict, match="differ from the announced files") as refusal:
        await hers.client.complete_asset("model", draft.uid)

    assert complaint in refusal.value.detail
    assert (await hers.client.list_assets()).assets == []
    again = await hers.put("model", MODEL)
    assert again.version.dataset_uid != draft.uid, "another data set is used"
    assert await read_contents(assets, again.version.dataset_uid) == MODEL


async def test_file_without_announced_checksum_counts_only_when_it_was_completed(
    assets: Assets,
) -> None:
    hers = assets.by(ANNA)
    files = {"a": GOOD, "b": b"words"}
    draft = await hers.begin("model", files, with_checksum=False)
    assert draft.uid is not None
    await put_in(assets, draft.uid, write_evil_file(assets.wfms.folder, "a"))
    await hers.send_file("model", draft.uid, 1, files["b"])
    with pytest.raises(Conflict, match=r"1 files of the version of asset .* have not been sent: a"):
        await hers.client.complete_asset("model", draft.uid)

    longer = await hers.begin("model", files, with_checksum=False)
    assert longer.uid is not None
    await put_in(assets, longer.uid, write_evil_file(assets.wfms.folder, "a", b"longer than it", 0))
    with pytest.raises(Conflict):
        await hers.send_file("model", longer.uid, 0, GOOD)

    stored = await hers.put("model", files, with_checksum=False)
    assert await read_contents(assets, stored.version.dataset_uid) == files
    assert [file.checksum for file in stored.version.files] == [
        compute_checksum(files["a"]),
        compute_checksum(files["b"]),
    ]


async def test_known_file_of_another_size_than_announced_must_be_sent(assets: Assets) -> None:
    hers = assets.by(ANNA)
    await hers.put("model", MODEL)
    wrong = NewAssetFile(path="copy.pt", size=3, checksum=compute_checksum(GOOD))
    draft = await hers.client.begin_asset("model", NewAsset(files=[wrong]))
    assert [file.path for file in draft.missing] == ["copy.pt"]
    assert draft.uid is not None
    with pytest.raises(Unprocessable, match="has not arrived as it was announced"):
        await hers.send_file("model", draft.uid, 0, b"abc")


async def test_path_or_note_that_shows_text_in_another_order_is_refused(assets: Assets) -> None:
    http = assets.wfms.links.http_of(ANNA, "wfms.operator")
    path = "/api/v1/assets/model/drafts"
    good = describe_asset(MODEL).model_dump(mode="json")
    for sign in ("\u202e", "\u2066"):
        for body in (
            {**good, "files": [{"path": f"model{sign}txt.exe", "size": 1}]},
            {**good, "note": f"by {sign}anna"},
        ):
            refused = await http.post(path, json=body)
            assert refused.status_code == 422, refused.text
            shown = f"U+{ord(sign):04X}, which changes the order in which the following text"
            assert shown in refused.text
    assert (await http.post(path, json=good)).status_code == 201


async def test_stored_version_with_such_a_path_can_be_read_and_removed(assets: Assets) -> None:
    """Versions may be older than the check of their paths."""
    await assets.put("model", MODEL)
    async with assets.database() as database, database.connection() as connection:
        await connection.execute(
            "UPDATE assets SET note = $1, files = jsonb_set(files, '{0,path}', to_jsonb($2::text))",
            "\u202e",
            "a\u202eb",
        )
    [version] = (await assets.client.get_asset("model")).versions
    assert (version.note, version.files[0].path) == ("\u202e", "a\u202eb")
    removed = await assets.client.remove_asset("model")
    assert [each.version for each in removed.removed] == [1]
