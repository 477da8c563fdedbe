"""Job orders in the form that CWL runners take."""

import json
from pathlib import Path
from typing import Any

import pytest

from sluice.cli.job_orders.job_order import read_job_order
from sluice.cli.job_orders.parameters import read_parameters
from sluice.contracts.common.problems import Unprocessable

YAML = """\
cuts: [1, 2.50, 1e3, -7]
words: [2020-01-01, yes, "no", ~, true]
note: null
text: |
  two
  lines
ref: {class: File, path: refs/a b.txt}
more:
  - {class: File, location: "file:///x/y.txt", secondaryFiles: [{class: File, location: y.idx}]}
  - {class: Directory, location: ../tree}
id: an-order
cwl:tool: other.cwl
"""


def test_job_order_is_read_by_the_rules_of_cwl(tmp_path: Path) -> None:
    """Timestamps stay texts, null counts as not given, and paths are relative to the folder."""
    path = tmp_path / "order.yml"
    path.write_text(YAML)
    assert read_job_order(path) == {
        "cuts": [1, 2.5, 1000.0, -7],
        "words": ["2020-01-01", "yes", "no", None, True],
        "text": "two\nlines\n",
        "ref": {"class": "File", "path": f"{tmp_path}/refs/a b.txt"},
        "more": [
            {
                "class": "File",
                "location": "file:///x/y.txt",
                "secondaryFiles": [{"class": "File", "location": f"{tmp_path}/y.idx"}],
            },
            {"class": "Directory", "location": f"{tmp_path}/../tree"},
        ],
        "id": "an-order",
        "cwl:tool": "other.cwl",
    }


def test_json_job_order_is_read_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "order.json"
    path.write_text(json.dumps({"cuts": list(range(10_000)), "note": None}))
    assert read_job_order(path) == {"cuts": list(range(10_000))}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "this is not a job order"),
        ("", "this is not a job order"),
        ("n: 1\na: [", ":2:5: the job order is not YAML or JSON: "),
        (
            'id: "a\nn: [\n',
            ":3:1: the job order is not YAML or JSON: found unexpected end of stream",
        ),
        ("n: 1\nid: caf\udce9\n", ":2:8: the job order is not valid UTF-8"),
    ],
)
def test_invalid_job_order_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "order.yml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(Unprocessable, match=message) as refused:
        read_job_order(path)
    assert str(path) in refused.value.detail
    assert "unicode string" not in refused.value.detail


def test_typed_parameters_override_the_job_order(tmp_path: Path) -> None:
    path = tmp_path / "order.yml"
    path.write_text("a: 1\nb: 2\n")
    parameters = read_parameters(["b=3"], job=path)
    assert parameters.values == {"a": 1, "b": 3}
    assert parameters.texts == {"b": "3"}


@pytest.mark.parametrize(
    "text", ['{"n": [1.23e5, 1.20e1, 2e-3, 1e30]}', "n: [1.23e5, 1.20e1, 2e-3, 1e30]"]
)
def test_numbers_have_the_values_that_tools_get(tmp_path: Path, text: str) -> None:
    path = tmp_path / "order.yml"
    path.write_text(text)
    assert json.dumps(read_job_order(path)["n"]) == "[123000, 12.0, 0.002, 1e+30]"


def test_literals_become_files(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("own\n")
    order: dict[str, Any] = {
        "text": {"class": "File", "basename": "é.txt", "contents": "a\r\nb\n", "format": "x:y"},
        "tree": {
            "class": "Directory",
            "listing": [
                {"class": "File", "contents": "deep", "basename": "c"},
                {"class": "Directory", "basename": "d", "listing": []},
                {"class": "File", "path": "own.txt", "basename": "other.txt"},
            ],
        },
    }
    path = tmp_path / "order.json"
    path.write_text(json.dumps(order))
    values = read_job_order(path)
    text, tree = Path(values["text"].pop("path")), Path(values["tree"].pop("path"))
    assert values["text"] == order["text"]
    assert values["tree"] == {
        "class": "Directory",
        "listing": [
            {"class": "File", "contents": "deep", "basename": "c", "path": f"{tree}/c"},
            {"class": "Directory", "basename": "d", "listing": [], "path": f"{tree}/d"},
            {"class": "File", "basename": "other.txt", "path": f"{tree}/other.txt"},
        ],
    }
    assert (text.name, text.read_bytes()) == ("é.txt", b"a\r\nb\n")
    assert sorted(one.name for one in tree.iterdir()) == ["c", "d", "other.txt"]
    assert (tree / "c").read_text() == "deep"
    assert (tree / "d").is_dir()
    assert (tree / "other.txt").read_text() == "own\n"


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        ({"class": "File", "basename": "../x", "contents": ""}, "is not the name of a file"),
        ({"class": "File", "contents": 3}, "is not a text"),
        ({"class": "Directory", "listing": "x"}, "is not a list"),
        ({"class": "Directory", "listing": [{"class": "File", "path": "/nowhere"}]}, "No such"),
        ({"class": "Directory", "listing": ["x"]}, "something else than files"),
        ({"class": "Directory", "listing": [{"class": "File"}]}, "something else than files"),
    ],
)
def test_unsuitable_literal_is_refused(tmp_path: Path, literal: object, message: str) -> None:
    path = tmp_path / "order.json"
    path.write_text(json.dumps({"value": literal}))
    with pytest.raises(Unprocessable, match=message):
        read_job_order(path)


@pytest.mark.parametrize("place", ["path", "contents"])
def test_entry_of_a_literal_cannot_lead_out_of_its_folder(tmp_path: Path, place: str) -> None:
    (tmp_path / "x").write_text("x")
    entry = {"class": "File", place: "x", "basename": f"../../..{tmp_path}/planted"}
    path = tmp_path / "order.json"
    path.write_text(json.dumps({"tree": {"class": "Directory", "listing": [entry]}}))
    with pytest.raises(Unprocessable, match="is not the name of a file"):
        read_job_order(path)
    assert not (tmp_path / "planted").exists()


def test_entries_of_a_literal_have_different_names(tmp_path: Path) -> None:
    entries = [{"class": "File", "basename": "a", "contents": text} for text in "xy"]
    path = tmp_path / "order.json"
    path.write_text(json.dumps({"tree": {"class": "Directory", "listing": entries}}))
    with pytest.raises(Unprocessable, match="lists 'a' twice"):
        read_job_order(path)


def test_entry_of_a_literal_may_be_an_address(tmp_path: Path) -> None:
    (tmp_path / "a b.txt").write_text("own")
    entry = {"class": "File", "location": (tmp_path / "a b.txt").as_uri()}
    path = tmp_path / "order.json"
    path.write_text(json.dumps({"tree": {"class": "Directory", "listing": [entry]}}))
    tree = Path(read_job_order(path)["tree"]["path"])
    assert [one.name for one in tree.iterdir()] == ["a b.txt"]
