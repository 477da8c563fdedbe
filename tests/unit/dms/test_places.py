"""Resolution of URLs to a storage and a path."""

from uuid import uuid4

import pytest

from dms.domain.places import OutsideStorages, Root, storage_place, upload_folder
from sluice.contracts.common.plain_paths import stays_inside
from sluice.contracts.common.states import StorageType

DATA = Root(uuid4(), "data", StorageType.INPUT, "file:///data", read_only=False, enabled=True)
INNER = Root(
    uuid4(), "inner", StorageType.INPUT, "file:///data/inner", read_only=False, enabled=True
)


def test_url_belongs_to_the_innermost_storage() -> None:
    assert storage_place("file:///data/x/y", [DATA, INNER], subject="w").path == "x/y"
    place = storage_place("file:///data/inner/y", [DATA, INNER], subject="w")
    assert (place.root, place.path, place.url) == (INNER, "y", "file:///data/inner/y")
    assert storage_place("file:///data", [DATA, INNER], subject="w").path == ""


@pytest.mark.parametrize(
    "url",
    [
        "file:///database/x",
        "file:///dat",
        "s3://data/x",
        "file://localhost/data/x",
        "/data/x",
        "file:///elsewhere",
        "FILE:///data/x",
    ],
)
def test_url_outside_all_storages_is_refused_by_name(url: str) -> None:
    with pytest.raises(
        OutsideStorages,
        match=r"file 'f': .* is not in a registered, enabled storage \(file:///data\)",
    ):
        storage_place(url, [DATA], subject="file 'f'")


@pytest.mark.parametrize(
    "path",
    [
        "../etc/passwd",
        "a/../../etc",
        "%2e%2e/etc",
        "a/%2E%2e/b",
        "%252e%252e/etc",
        "%25252525252e%25252525252e/etc",
        "a//b",
        "./a",
        "a/.",
        "..\\etc",
        "a%2f..%2fb",
        "a\x00b",
        "a%00b",
        "zip::http://elsewhere/x",
        "",
    ],
)
def test_path_that_could_leave_its_storage_is_refused(path: str) -> None:
    assert not stays_inside(path)
    if path:
        with pytest.raises(OutsideStorages, match="does not stay inside storage 'data'"):
            storage_place(f"file:///data/{path}", [DATA], subject="w")


@pytest.mark.parametrize(
    "path", ["a", "a/b.c", "..a/b", "a/...", "50%", "a b/c#d?e", "überall/ж", "%41"]
)
def test_plain_paths_stay_inside(path: str) -> None:
    assert stays_inside(path)


@pytest.mark.parametrize(
    ("output_name", "folder"),
    [
        (None, "uid.merge.out"),
        (17, "uid.merge.out"),
        ("", "uid.merge.out"),
        ("run-7", "run-7.uid.merge.out"),
        ("../../etc", "etc.uid.merge.out"),
        ("Lauf 7/ä", "Lauf_7_ä.uid.merge.out"),
    ],
)
def test_upload_folder_is_readable_and_unique(output_name: object, folder: str) -> None:
    assert upload_folder("uid.merge.out", output_name) == folder


def test_upload_folder_name_fits_into_file_systems() -> None:
    for name in ("n" * 10, "n" * 200):
        folder = upload_folder(name, "ä" * 400)
        assert folder.endswith(f".{name}")
        assert len(folder.encode()) <= 240
