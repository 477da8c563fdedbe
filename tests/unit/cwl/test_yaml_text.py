"""The reader gives what ruamel's own loader gives, places included: cwltool reads templates with
that one."""

from typing import Any

import pytest
from schema_salad.utils import yaml_no_ts

from sluice.cwl.reading.findings import Findings
from sluice.cwl.reading.yaml_text import plain_value, read_text
from tests.unit.cwl.samples import LINEAR
from tests.unit.cwl.test_plans import SPD

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


def test_aliases_and_merged_keys() -> None:
    document = read_text("a: &x {b: 1, c: [1, 2]}\nd: *x\ne:\n  <<: *x\n  b: 2\n", Findings("t"))
    assert document == {
        "a": {"b": 1, "c": [1, 2]},
        "d": {"b": 1, "c": [1, 2]},
        "e": {"b": 2, "c": [1, 2]},
    }


@pytest.mark.parametrize("scalar", SCALARS.split())
def test_scalars_are_read_by_yaml_1_2(scalar: str) -> None:
    value = plain_value(scalar)
    assert value == yaml_no_ts().load(f"a: {scalar}")["a"]
    assert type(value) in (str, int, float, bool, type(None))
