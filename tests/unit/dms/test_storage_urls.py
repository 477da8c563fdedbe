"""Rules for URLs and roots of storages."""

import pytest

from dms.domain.storage_urls import InvalidStorageUrl, contains_url, read_roots, require_storage_url


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///", "not a plain folder"),
        ("file:///a//b", "not a plain folder"),
        ("file:///a/%2e%2e", "not a plain folder"),
        ("file:///a/./b", "not a plain folder"),
        ("/data", "not a plain folder"),
        ("file://localhost/data/a", "write it as file:///data/a"),
        ("file://other/data", "write it as file:///data"),
        ("FILE:///data", "write it as file:///data"),
        ("file:///d%61ta", "has escapes"),
        ("s3://bucket/a?versionId=1", "has more than a path"),
        ("memory://a", "keeps nothing"),
        ("Memory://a", "keeps nothing"),
    ],
)
def test_unusual_spelling_of_a_storage_url_is_refused(url: str, reason: str) -> None:
    with pytest.raises(InvalidStorageUrl, match=reason):
        require_storage_url(url)


def test_roots_are_paths_and_urls() -> None:
    assert read_roots(" /data/  s3://bucket/ '/mnt/two words' file:///srv\n") == (
        "file:///data",
        "s3://bucket",
        "file:///mnt/two words",
        "file:///srv",
    )
    assert read_roots("/") == ("file:///",)
    assert read_roots("") == ()


@pytest.mark.parametrize(
    "text", ["data", "file://host/data", "/data/../etc", "memory://", "://x", "'/data"]
)
def test_invalid_root_is_refused(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"neither an absolute path|leaves its folder|keeps nothing|quotation"
    ):
        read_roots(text)


@pytest.mark.parametrize(
    ("outer", "inner", "answer"),
    [
        ("s3://bucket", "s3://bucket", True),
        ("s3://bucket/a", "s3://bucket/a/b", True),
        ("s3://bucket/a", "s3://bucket/ab", False),
        ("s3://bucket/a/b", "s3://bucket/a", False),
        ("s3://bucket", "s3://other/a", False),
        ("s3://bucket", "gs://bucket/a", False),
        ("S3://Bucket", "s3a://bucket/a", True),
        ("https://host/a/", "https://HOST/a", True),
        ("https://host/a", "https://host/A", False),
    ],
)
def test_containment_of_storages_follows_from_their_urls(
    outer: str, inner: str, answer: bool
) -> None:
    assert contains_url(outer, inner) is answer
