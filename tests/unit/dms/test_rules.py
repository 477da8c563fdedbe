"""Rules of the catalogue: cursors, new files, and differences."""

from uuid import UUID, uuid4

import pytest

from dms.domain.completeness import UsedNumbers, describe_missing_files
from dms.domain.cursor import (
    Order,
    parse_place,
    parse_position,
    write_place,
    write_position,
)
from dms.domain.differences import (
    ContradictoryFiles,
    FileDiffers,
    KnownFile,
    SubmittedFile,
    new_files,
    require_same_request,
)
from sluice.contracts.common.problems import Conflict, InvalidCursor

STORAGE = uuid4()


def test_cursors_are_read_as_they_were_written() -> None:
    for order in Order:
        assert parse_position(order, write_position(order, 17)) == 17
        assert parse_position(order, None) == parse_position(order, "") == 0
    assert parse_place(write_place(3, "a/b%2F")) == (3, "a/b%2F")
    assert parse_place(None) < (0, "")


@pytest.mark.parametrize("cursor", ["r17", "c", "c-1", "c1.5", "c²", "x", "c" + "9" * 19])
def test_cursor_of_another_list_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        parse_position(Order.CLOSING, cursor)
    with pytest.raises(InvalidCursor):
        parse_place(cursor)


def _make_submitted_file(
    name: str = "a", *, seq: int = 1, size: int = 10, checksum: bytes = b"x", path: str = "d/a"
) -> SubmittedFile:
    return SubmittedFile(
        name=name,
        seq=seq,
        size=size,
        checksum=checksum,
        url="file:///s/" + path,
        storage_id=STORAGE,
        path=path,
        meta={},
        origin=None,
    )


def _make_known_files(places: set[tuple[UUID, str]]) -> dict[str, KnownFile]:
    return {"a": KnownFile("a", 1, 10, b"x", frozenset(places))}


def test_only_unknown_files_are_new() -> None:
    moved = _make_known_files({(uuid4(), "elsewhere"), (STORAGE, "d/a")})
    other = _make_submitted_file("b", path="d/b")
    assert new_files([_make_submitted_file(), other, other], moved) == [other]


@pytest.mark.parametrize(
    ("sent", "difference"),
    [
        (_make_submitted_file(checksum=b"y"), "checksum: sha256:78, not sha256:79"),
        (_make_submitted_file(size=11), "size: 10 bytes, not 11"),
        (_make_submitted_file(seq=2), "number 1, not 2"),
        (_make_submitted_file(path="d/b"), "another url than file:///s/d/b"),
    ],
)
def test_difference_to_a_registered_file_is_named(sent: SubmittedFile, difference: str) -> None:
    with pytest.raises(FileDiffers, match=rf"file 'a' is registered already, with .*{difference}"):
        new_files([sent], _make_known_files({(STORAGE, "d/a")}))


def test_contradictory_files_in_a_request_are_refused() -> None:
    with pytest.raises(ContradictoryFiles, match="same name"):
        new_files([_make_submitted_file(), _make_submitted_file(size=11)], {})
    with pytest.raises(ContradictoryFiles, match="same url"):
        new_files([_make_submitted_file(), _make_submitted_file("b")], {})
    same_number = [_make_submitted_file(), _make_submitted_file("b", path="d/b")]
    with pytest.raises(ContradictoryFiles, match="'a' and 'b' of the request have the same seq 1"):
        new_files(same_number, {})
    assert new_files(same_number, {}, numbered=False) == same_number
    assert new_files([_make_submitted_file(), _make_submitted_file()], {}) == [
        _make_submitted_file()
    ], "a file sent twice counts once"


@pytest.mark.parametrize(
    ("count", "expected_count", "used", "text"),
    [
        (0, 1, UsedNumbers(), "1 more file: 0 of 1 are registered"),
        (
            2,
            4,
            UsedNumbers((0, 1)),
            "2 more files: 2 of 4 are registered, with numbers from 0 to 1",
        ),
        (
            3,
            9,
            UsedNumbers((2, 9), [(3, 3), (5, 8)]),
            (
                "6 more files: 3 of 9 are registered, with numbers from 2 to 9, but no file"
                " has 3, 5 to 8"
            ),
        ),
    ],
)
def test_missing_files_are_counted_with_their_numbers(
    count: int, expected_count: int, used: UsedNumbers, text: str
) -> None:
    assert describe_missing_files(count, expected_count=expected_count, used_numbers=used) == text


def test_repeated_request_names_each_field_that_differs() -> None:
    require_same_request("x", {"a": 1, "b": {"c": [1]}}, {"b": {"c": [1]}, "a": 1})
    with pytest.raises(
        Conflict, match="x is registered already, differently: a is 1, not 2; c is null, not 3"
    ) as refusal:
        require_same_request("x", {"a": 1, "b": 2}, {"a": 2, "b": 2, "c": 3})
    assert refusal.value.fields["differs"] == "a, c"
