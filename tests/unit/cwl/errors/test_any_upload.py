"""The compiler stores or refuses any upload and never raises an unexpected error."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sluice.contracts.common.problems import Unprocessable
from sluice.cwl import UploadRefused, compile_upload, take_files, unpack_zip
from tests.draws import examples
from tests.unit.cwl.documents.archives import zipped
from tests.unit.cwl.errors.accepted_uploads import carry_through
from tests.unit.cwl.mutations import Files, uploads
from tests.unit.cwl.samples import GRAPH, LINEAR, edited
from wfms.operator.templates.domain.json_document import UnstorableDocument

SEVERAL = (
    "  ScatterFeatureRequirement: {}",
    "  ScatterFeatureRequirement: {}\n  MultipleInputFeatureRequirement: {}",
)


def linear(*edits: tuple[str, str], text: str = LINEAR) -> tuple[Files, str]:
    return {"workflow.cwl": edited(*edits, text=text)}, "workflow.cwl"


def nested_in_one_job(*edits: tuple[str, str]) -> tuple[Files, str]:
    text = (
        Path(__file__).parents[3] / "differential" / "templates" / "nested-over-data.cwl"
    ).read_text()
    return linear(
        ("    in: {files: texts", "    when: $(inputs.count)\n    in: {files: texts"),
        *edits,
        text=text,
    )


@settings(max_examples=examples(400))
@given(upload=uploads())
@example(linear(("default: 5", "default: ._")))
@example(linear(("default: 5", "default: 0o_")))
@example(linear(("timelimit: 10", "timelimit: !!float -._")))
@example(linear(("      limit: limit\n", "      limit: {source: limit, pickValue: {a: b}}\n")))
@example(
    linear(
        SEVERAL,
        ("outputSource: report/page}", "outputSource: [report/page, total/sum], pickValue: []}"),
        text=GRAPH,
    )
)
@example(linear(("requirements:\n  Scatter", "hints: [unknown]\nrequirements:\n  Scatter")))
@example(
    linear(
        (
            "      requirements:\n        ToolTimeLimit: {timelimit: 10}\n  join",
            "      hints: [unknown]\n  join",
        )
    )
)
@example(nested_in_one_job(("          scatter: file\n", "          scatter: [{a: b}]\n")))
@example(nested_in_one_job(("in: {file: files, ", "in: {file: {source: [{a: b}]}, ")))
def test_mutated_upload_raises_no_unexpected_error(upload: Any) -> None:
    files, main = upload
    with suppress(Unprocessable, UnstorableDocument):
        carry_through(files, main)


ZIPPED = {"flow/workflow.cwl": LINEAR, "flow/notes.txt": "é\n"}
ZIP = zipped(ZIPPED)


@settings(max_examples=examples(200))
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
    text = edited(
        ("  note: string?\noutputs", f"  note:\n    type: string\n    default: {written}\noutputs")
    )
    files, main = {"workflow.cwl": text}, "workflow.cwl"
    result = compile_upload(take_files(files), name="t")
    [finding] = result.compiled.errors
    assert result.main == main
    assert (finding.line, finding.column) == (16, 14)
    assert "quote it if it is text" in finding.message
    assert carry_through({"workflow.cwl": text.replace(written, f'"{written}"')}, main) is not None
