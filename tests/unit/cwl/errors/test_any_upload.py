"""The compiler stores or refuses any upload and never raises an unexpected error."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sluice.contracts.common.problems import Unprocessable
from sluice.cwl import UploadRefused, compile_upload, take_files, unpack_zip
from tests.draws import count_examples
from tests.unit.cwl.documents.archives import zip_files
from tests.unit.cwl.errors.accepted_uploads import carry_through
from tests.unit.cwl.mutations import Files, draw_upload
from tests.unit.cwl.samples import GRAPH, LINEAR, edit_text
from wfms.operator.templates.domain.json_document import UnstorableDocument

SEVERAL = (
    "  ScatterFeatureRequirement: {}",
    "  ScatterFeatureRequirement: {}\n  MultipleInputFeatureRequirement: {}",
)


def make_linear_upload(*edits: tuple[str, str], text: str = LINEAR) -> tuple[Files, str]:
    return {"workflow.cwl": edit_text(*edits, text=text)}, "workflow.cwl"


def make_nested_upload(*edits: tuple[str, str]) -> tuple[Files, str]:
    text = (
        Path(__file__).parents[3] / "differential" / "templates" / "nested-over-data.cwl"
    ).read_text()
    return make_linear_upload(
        ("    in: {files: texts", "    when: $(inputs.count)\n    in: {files: texts"),
        *edits,
        text=text,
    )


@settings(max_examples=count_examples(400))
@given(upload=draw_upload())
@example(make_linear_upload(("default: 5", "default: ._")))
@example(make_linear_upload(("default: 5", "default: 0o_")))
@example(make_linear_upload(("timelimit: 10", "timelimit: !!float -._")))
@example(
    make_linear_upload(
        ("      limit: limit\n", "      limit: {source: limit, pickValue: {a: b}}\n")
    )
)
@example(
    make_linear_upload(
        SEVERAL,
        ("outputSource: report/page}", "outputSource: [report/page, total/sum], pickValue: []}"),
        text=GRAPH,
    )
)
@example(
    make_linear_upload(("requirements:\n  Scatter", "hints: [unknown]\nrequirements:\n  Scatter"))
)
@example(
    make_linear_upload(
        (
            "      requirements:\n        ToolTimeLimit: {timelimit: 10}\n  join",
            "      hints: [unknown]\n  join",
        )
    )
)
@example(make_nested_upload(("          scatter: file\n", "          scatter: [{a: b}]\n")))
@example(make_nested_upload(("in: {file: files, ", "in: {file: {source: [{a: b}]}, ")))
def test_mutated_upload_raises_no_unexpected_error(upload: Any) -> None:
    files, main = upload
    with suppress(Unprocessable, UnstorableDocument):
        carry_through(files, main)


ZIPPED = {"flow/workflow.cwl": LINEAR, "flow/notes.txt": "é\n"}
ZIP = zip_files(ZIPPED)


@settings(max_examples=count_examples(200))
@example([(602, 0)], 0)  # an entry without a name
@given(
    st.lists(st.tuples(st.integers(0, len(ZIP) - 1), st.integers(0, 255)), min_size=1, max_size=4),
    st.integers(0, 40),
)
def test_damaged_zip_is_refused_or_its_texts_are_whole(
    changes: list[tuple[int, int]], cut: int
) -> None:
    data = bytearray(ZIP)
    for at, byte in changes:
        data[at] = byte
    with suppress(UploadRefused):
        upload = take_files(unpack_zip(bytes(data[: len(data) - cut])))
        assert set(upload.texts.values()) <= set(ZIPPED.values())


@pytest.mark.parametrize(
    "written", ["._", "-._", "+._", "0o_", "0b_", "0x_", "-_", "!!int 0x_", "!!float ._"]
)
def test_number_without_digits_is_reported_with_its_place(written: str) -> None:
    text = edit_text(
        ("  note: string?\noutputs", f"  note:\n    type: string\n    default: {written}\noutputs")
    )
    files, main = {"workflow.cwl": text}, "workflow.cwl"
    result = compile_upload(take_files(files), name="t")
    [finding] = result.compiled.errors
    assert result.main == main
    assert (finding.line, finding.column) == (16, 14)
    assert "quote it if it is text" in finding.message
    assert carry_through({"workflow.cwl": text.replace(written, f'"{written}"')}, main) is not None
