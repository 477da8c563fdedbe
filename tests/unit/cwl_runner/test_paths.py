"""Paths in a job order are literal file names."""

from pathlib import Path

import pytest

from sluice.cwl_runner.paths import escape_paths

ORDER = """\
# größer: "path": 'a#b.txt'
first: {"class": "File", "path": "a#b.txt", "secondaryFiles": [{class: File, path: 50%.txt}]}
again: &again
  class: File
  path: 'wo?.txt'  # it is there
  size: 1.50
others: [*again, {class: Directory, path: d#}, {class: File, path: sub/c d%41.txt}]
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "d#").mkdir()
    (tmp_path / "sub").mkdir()
    for name in ("a#b.txt", "50%.txt", "wo?.txt", "sub/c d%41.txt"):
        (tmp_path / name).touch()


def test_special_characters_of_paths_are_escaped(tmp_path: Path) -> None:
    expected = ORDER
    for path, escaped in {
        '{"class": "File", "path": "a#b.txt"': '{"class": "File", "path": "a%23b.txt"',
        "50%.txt": '"50%25.txt"',
        "'wo?.txt'": '"wo%3F.txt"',
        "d#": '"d%23"',
        "sub/c d%41.txt": '"sub/c%20d%2541.txt"',
    }.items():
        assert path in expected
        expected = expected.replace(path, escaped)
    assert escape_paths(ORDER, tmp_path) == expected


@pytest.mark.parametrize(
    "text",
    [
        "f: {class: File, location: a#b.txt}",
        "f: {class: File, path: a#b.txt, location: plain.txt}",
        "f: {class: File, path: a%23b.txt}",
        "f: {class: File, path: https://example.org/a#b}",
        "f: {path: a#b.txt}",
        f"f: {{class: File, path: '#{'a' * 5000}'}}",
        "f: {class: File, path: a#b.txt",
        "",
    ],
)
def test_other_text_of_a_job_order_is_unchanged(tmp_path: Path, text: str) -> None:
    assert escape_paths(text, tmp_path) == text
