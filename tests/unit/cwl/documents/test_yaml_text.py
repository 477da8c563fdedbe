"""The YAML reader gives the same values and places as ruamel, which cwltool uses."""

from typing import Any

import pytest
from schema_salad.utils import yaml_no_ts

from sluice.cwl.reading.findings import Findings
from sluice.cwl.reading.plain_values import plain_value
from sluice.cwl.reading.yaml_text import read_text
from tests.unit.cwl.plans.spd_template import SPD
from tests.unit.cwl.samples import LINEAR

SCALARS = """0 1 -1 +7 010 0o10 0x1F 1_000 1.5 .5 1e3 1E-3 .inf -.inf ~ null Null true TRUE yes no
    on off y 1:30 2001-01-01 0b11 09 1. . e3 0.1e+05"""


def assert_same(ours: Any, theirs: Any) -> None:
    assert ours == theirs
    if isinstance(ours, dict | list):
        assert (ours.lc.line, ours.lc.col) == (theirs.lc.line, theirs.lc.col)  # type: ignore[union-attr]
        for key in ours if isinstance(ours, dict) else range(len(ours)):
            assert ours.lc.data[key] == theirs.lc.data[key]  # type: ignore[union-attr]
            assert_same(ours[key], theirs[key])


@pytest.mark.parametrize(
    "text",
    [
        LINEAR,
        SPD.read_text(),
        'a: |\n  text\n  more\nb: >\n  folded\n  text\nc: "q\\n"\n# end\n',
        '{"a": [1, {"b": null}], "c": "é"}',
    ],
)
def test_documents_are_read_as_ruamel_reads_them(text: str) -> None:
    findings = Findings("t")
    ours, theirs = read_text(text, findings), yaml_no_ts().load(text)
    assert findings.sorted() == []
    assert_same(ours, theirs)


def test_aliases_and_merge_keys_are_resolved() -> None:
    document = read_text("a: &x {b: 1, c: [1, 2]}\nd: *x\ne:\n  <<: *x\n  b: 2\n", Findings("t"))
    assert document == {
        "a": {"b": 1, "c": [1, 2]},
        "d": {"b": 1, "c": [1, 2]},
        "e": {"b": 2, "c": [1, 2]},
    }


_MAPPING = "the merge key '<<' takes a mapping or a list of mappings, not "


@pytest.mark.parametrize(
    ("text", "message"),
    {
        "a number": ("a: 1\n<<: 5\n", f"t:2:5: error: {_MAPPING}5: "),
        "nothing": ("<<:\na: 1\n", f"t:1:4: error: {_MAPPING}null: "),
        "text with an escape": ('<<: "\\e[2J"\n', f"t:1:5: error: {_MAPPING}'\\x1b[2J': "),
        "an item of a list": (
            "x: &x {b: 1}\ny:\n  <<: [*x, [z]]\n",
            f't:3:7: error: {_MAPPING}["z"]: ',
        ),
        "twice": (
            "x: &x {b: 1}\ny:\n  <<: *x\n  <<: *x\n",
            "t:4:3: error: the key '<<' is a duplicate; the first is in line 3: ",
        ),
        "beside a repeated key": (
            "<<: {b: 1}\na: 1\na: 2\n",
            "t:3:1: error: the key 'a' is a duplicate; the first is in line 2",
        ),
    }.values(),
)
def test_wrong_merge_keys_are_reported(text: str, message: str) -> None:
    findings = Findings("t")
    read_text(text, findings)
    assert [str(finding)[: len(message)] for finding in findings.sorted()] == [message]


def test_first_of_several_merged_mappings_wins() -> None:
    text = "x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz:\n  <<: [*x, *y]\n  c: 3\n"
    document = read_text(text, Findings("t"))
    assert document["z"] == {"a": 1, "b": 1, "c": 3} == yaml_no_ts().load(text)["z"]


@pytest.mark.parametrize("scalar", SCALARS.split())
def test_scalars_are_read_as_ruamel_reads_them(scalar: str) -> None:
    value = plain_value(scalar)
    assert value == yaml_no_ts().load(f"a: {scalar}")["a"]
    assert type(value) in (str, int, float, bool, type(None))
