"""Resolution of named types (SchemaDefRequirement and imports)."""

from pathlib import Path

import pytest

from sluice.cwl import Compiled, compile_file, compile_template, pack_template
from tests.unit.cwl.samples import (
    LINEAR,
    compile_plan,
    edit_text,
)

SHARED = (
    "- {name: Mode, type: enum, symbols: [quiet, loud]}\n- {name: Options, type: record, fields:"
    " {mode: Mode, of: Any}}\n"
)
RECORD = {
    "type": "record",
    "fields": {"mode": {"type": "enum", "symbols": ["quiet", "loud"]}, "of": "Any"},
}


def make_workflow(types: str, *, of_workflow: str, of_tool: str) -> str:
    """Return a template with ``types`` in its SchemaDefRequirement.

    ``of_workflow`` and ``of_tool`` are the types of ``note`` in the workflow and in the tool.
    """
    return edit_text(
        ("requirements:\n", f"requirements:\n  SchemaDefRequirement: {{types: [{types}]}}\n"),
        ("  note: string?", f"  note: {of_workflow}"),
        ("        note: string?", f"        note: {of_tool}"),
        text=LINEAR,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "types").mkdir()
    (tmp_path / "types" / "shared.yml").write_text(SHARED)
    return tmp_path / "workflow.cwl"


def compile_path(path: Path, text: str) -> Compiled:
    path.write_text(text)
    return compile_file(path, name="t")[0]


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("types/shared.yml#Options", RECORD),
        ("types/shared.yml#Options[]", {"type": "array", "items": RECORD}),
        ("types/../types/shared.yml#Mode?", {"type": "enum", "symbols": ["quiet", "loud"]}),
        ("[int, 'types/shared.yml#Options']", ["int", RECORD]),
    ],
)
def test_named_type_of_a_parameter_is_expanded(path: Path, written: str, kind: object) -> None:
    compiled = compile_path(
        path, make_workflow("{$import: types/shared.yml}", of_workflow=written, of_tool=written)
    )
    assert compiled.plan is not None, compiled.errors
    assert compiled.plan.parameters["note"].type == kind
    packed = compile_template(pack_template(path), name="t")
    assert packed.plan == compiled.plan


def test_equal_type_names_from_different_files_are_distinct(path: Path) -> None:
    (path.parent / "more").mkdir()
    (path.parent / "more" / "shared.yml").write_text(
        "name: Mode\ntype: enum\nsymbols: [fast, slow]\n"
    )
    types = (
        "{$import: types/shared.yml}, {$import: more/shared.yml}, {name: Mode, type: enum, symbols:"
        " [own]}"
    )
    for written, symbols in (
        ("more/shared.yml#Mode", ["fast", "slow"]),
        ("Mode", ["own"]),
        ("'#Mode'", ["own"]),
    ):
        compiled = compile_path(path, make_workflow(types, of_workflow=written, of_tool=written))
        assert compiled.plan is not None, compiled.errors
        assert compiled.plan.parameters["note"].type == {"type": "enum", "symbols": symbols}


def test_own_types_of_a_tool_hide_the_types_of_the_workflow(path: Path) -> None:
    own = "{name: '#Modes', type: enum, symbols: [a]}"
    text = make_workflow(
        "{name: Mode, type: enum, symbols: [quiet]}", of_workflow="Mode", of_tool="'#Mode'"
    )
    text += f"        SchemaDefRequirement: {{types: [{own}]}}\n"
    assert [error.message for error in compile_template(text, name="t").errors] == [
        "there is no type '#Mode'; did you mean '#Modes'?"
    ]


def test_error_in_an_imported_type_is_reported_in_its_own_file(path: Path) -> None:
    (path.parent / "types" / "shared.yml").write_text(SHARED.replace("of: Any", "of: [Any, Mood]"))
    type_name = "types/shared.yml#Option"
    compiled = compile_path(
        path, make_workflow("{$import: types/shared.yml}", of_workflow=type_name, of_tool="Any")
    )
    errors = [
        (Path(e.file or "").relative_to(path.parent).as_posix(), e.line, e.column, e.message)
        for e in compiled.errors
    ]
    line = path.read_text().splitlines().index(f"  note: {type_name}") + 1
    assert errors == [
        ("types/shared.yml", 2, 64, "there is no type 'Mood'; did you mean '#Mode'?"),
        (
            "workflow.cwl",
            line,
            3,
            f"there is no type '{type_name}'; did you mean 'types/shared.yml#Options'?",
        ),
    ]


def test_value_of_a_named_type_with_files_is_a_bundle() -> None:
    text = make_workflow(
        "{name: Pair, type: record, fields: {a: File, b: File}}", of_workflow="Pair", of_tool="Pair"
    )
    assert compile_plan(text).parameters["note"].is_bundle


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (
            [
                f"{{name: T{n + 1}, type: record, fields: {{a: T{n}, b: T{n}, c: T{n}}}}}"
                for n in range(12)
            ],
            "more than 10 types are nested",
        ),
        (
            [f"{{name: T{n + 1}, type: record, fields: {{a: T{n}}}}}" for n in range(900)],
            "more than 10 types are nested",
        ),
        (
            [
                "{name: T1, type: record, fields: {a: T12}}",
                "{name: T12, type: record, fields: {a: T1}}",
            ],
            "contains itself",
        ),
    ],
)
def test_excessive_or_recursive_types_are_refused(types: list[str], message: str) -> None:
    every = ", ".join(["{name: T0, type: record, fields: {a: int}}", *types])
    compiled = compile_template(make_workflow(every, of_workflow="T12", of_tool="Any"), name="t")
    assert len(compiled.errors) == 1
    assert message in compiled.errors[0].message
