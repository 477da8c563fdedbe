"""Tests that the folders and files of a group stay its own when others register data around
them."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.attacks.access.two_groups import MARK, GroupObjects, Member, bring_in, got
from tests.e2e.systems import LiveSystem
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("attacks-groups")


def test_files_of_another_group_cannot_be_registered(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    path = "/services/dms/api/v1/datasets"
    [first, _] = got(hers.owner.ask("GET", f"{path}/{hers.dataset}/files"))["files"]
    entry = {key: first[key] for key in ("seq", "name", "size", "checksum", "url")}
    own = got(stranger.ask("POST", path, json={"name": "his-trap"}))["uid"]
    beside = entry | {"url": entry["url"].replace("-0.txt", "-9.txt")}
    for file in (entry, entry | {"size": 1}, beside):
        refused = stranger.ask("POST", f"{path}/{own}/files", json={"files": [file]})
        assert refused.status_code == 403, refused.text
        assert "another group" in refused.json()["detail"]
    folder = entry["url"].rsplit("/", 1)[0]
    for url in (folder, f"{folder}/below"):
        refused = stranger.ask("POST", path, json={"name": "his-folder", "url": url})
        assert refused.status_code == 403, refused.text


def test_folder_around_the_data_of_another_group_cannot_be_registered(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    """A data set whose folder is a whole storage hides no data of other groups."""
    path = "/services/dms/api/v1/datasets"
    root = next(
        each["url"] for each in got(stranger.ask("GET", "/api/v1/storages"))
        if each["type"] == "input"
    )  # fmt: skip
    whole = got(stranger.ask("POST", path, json={"name": "his-storage", "url": root}))
    bring_in(hers.owner, grouped, f"{MARK}-below-his", {"kind": "x"})
    file = f"/api/v1/datasets/{hers.dataset}/files/{hers.file}/content"
    assert MARK in hers.owner.ask("GET", file).text
    assert stranger.ask("GET", file).status_code == 404
    assert got(stranger.ask("GET", f"{path}/{whole['uid']}/files"))["files"] == []
    got(hers.owner.ask("POST", path, json={"name": f"{MARK}-deep", "url": f"{root}/around/it/x"}))
    for url in (f"{root}/around/it", f"{root}/around"):
        refused = stranger.ask("POST", path, json={"name": "his-around", "url": url})
        assert refused.status_code == 403, refused.text
        assert "contains a folder that belongs to another group" in refused.json()["detail"]
    got(stranger.ask("POST", path, json={"name": "his-beside", "url": f"{root}/around/it-too"}))
    got(
        hers.owner.ask(
            "DELETE", f"/api/v1/datasets/{_named(hers.owner, f'{MARK}-deep')}?force=true"
        )
    )
    wait_until(
        lambda: (
            stranger.ask(
                "POST", path, json={"name": "his-around", "url": f"{root}/around"}
            ).is_success
        ),
        what="the folder can be registered after the other data set is deleted",
    )


def test_only_one_of_two_nested_folders_can_be_registered_at_the_same_time(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    path = "/services/dms/api/v1/datasets"
    root = next(
        each["url"] for each in got(stranger.ask("GET", "/api/v1/storages"))
        if each["type"] == "input"
    )  # fmt: skip

    def both(number: int) -> list[int]:
        requests = [
            (hers.owner, {"name": f"outer-{number}", "url": f"{root}/race-{number}"}),
            (stranger, {"name": f"inner-{number}", "url": f"{root}/race-{number}/in"}),
        ]
        with ThreadPoolExecutor(2) as two:
            answers = two.map(lambda one: one[0].ask("POST", path, json=one[1]), requests)
            return sorted(answer.status_code for answer in answers)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(both, range(24))) == [[201, 403]] * 24


def _named(owner: Member, name: str) -> str:
    [dataset] = got(owner.ask("GET", f"/services/dms/api/v1/datasets?name={name}"))["datasets"]
    return str(dataset["uid"])
