"""Tests that the folders and files of a group stay its own when others register data around
them."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.attacks.access.two_groups import MARK, GroupObjects, Member, create_dataset, read_json
from tests.e2e.systems import LiveSystem
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("attacks-groups")


def test_files_of_another_group_cannot_be_registered(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    path = "/services/dms/api/v1/datasets"
    [first, _] = read_json(objects.owner.ask("GET", f"{path}/{objects.dataset}/files"))["files"]
    entry = {key: first[key] for key in ("seq", "name", "size", "checksum", "url")}
    own = read_json(other_member.ask("POST", path, json={"name": "his-trap"}))["uid"]
    neighbour = entry | {"url": entry["url"].replace("-0.txt", "-9.txt")}
    for file in (entry, entry | {"size": 1}, neighbour):
        refused = other_member.ask("POST", f"{path}/{own}/files", json={"files": [file]})
        assert refused.status_code == 403, refused.text
        assert "another group" in refused.json()["detail"]
    folder = entry["url"].rsplit("/", 1)[0]
    for url in (folder, f"{folder}/below"):
        refused = other_member.ask("POST", path, json={"name": "his-folder", "url": url})
        assert refused.status_code == 403, refused.text


def test_folder_around_the_data_of_another_group_cannot_be_registered(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    """A data set whose folder is a whole storage hides no data of other groups."""
    path = "/services/dms/api/v1/datasets"
    root = next(
        each["url"] for each in read_json(other_member.ask("GET", "/api/v1/storages"))
        if each["type"] == "input"
    )  # fmt: skip
    root_dataset = read_json(
        other_member.ask("POST", path, json={"name": "his-storage", "url": root})
    )
    create_dataset(objects.owner, group_system, f"{MARK}-below-his", {"kind": "x"})
    file = f"/api/v1/datasets/{objects.dataset}/files/{objects.file}/content"
    assert MARK in objects.owner.ask("GET", file).text
    assert other_member.ask("GET", file).status_code == 404
    assert read_json(other_member.ask("GET", f"{path}/{root_dataset['uid']}/files"))["files"] == []
    read_json(
        objects.owner.ask("POST", path, json={"name": f"{MARK}-deep", "url": f"{root}/around/it/x"})
    )
    for url in (f"{root}/around/it", f"{root}/around"):
        refused = other_member.ask("POST", path, json={"name": "his-around", "url": url})
        assert refused.status_code == 403, refused.text
        assert "contains a folder that belongs to another group" in refused.json()["detail"]
    read_json(
        other_member.ask("POST", path, json={"name": "his-beside", "url": f"{root}/around/it-too"})
    )
    read_json(
        objects.owner.ask(
            "DELETE",
            f"/api/v1/datasets/{_register_named_dataset(objects.owner, f'{MARK}-deep')}?force=true",
        )
    )
    wait_until(
        lambda: (
            other_member.ask(
                "POST", path, json={"name": "his-around", "url": f"{root}/around"}
            ).is_success
        ),
        what="the folder can be registered after the other data set is deleted",
    )


def test_only_one_of_two_nested_folders_can_be_registered_at_the_same_time(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    path = "/services/dms/api/v1/datasets"
    root = next(
        each["url"] for each in read_json(other_member.ask("GET", "/api/v1/storages"))
        if each["type"] == "input"
    )  # fmt: skip

    def register_concurrently(number: int) -> list[int]:
        requests = [
            (objects.owner, {"name": f"outer-{number}", "url": f"{root}/race-{number}"}),
            (other_member, {"name": f"inner-{number}", "url": f"{root}/race-{number}/in"}),
        ]
        with ThreadPoolExecutor(2) as two:
            answers = two.map(lambda one: one[0].ask("POST", path, json=one[1]), requests)
            return sorted(answer.status_code for answer in answers)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(register_concurrently, range(24))) == [[201, 403]] * 24


def _register_named_dataset(owner: Member, name: str) -> str:
    [dataset] = read_json(owner.ask("GET", f"/services/dms/api/v1/datasets?name={name}"))[
        "datasets"
    ]
    return str(dataset["uid"])
