"""CWL types that each tool needs, from the schema of the newest version."""

import subprocess
import sys
from typing import Any

import pytest
from cwltool.process import get_schema

#: Fields of the schema that do not describe values: documentation, and the form in linked data.
WORDS = {"doc", "docParent", "docAfter", "docChild", "documentRoot", "jsonldPredicate"}


def remove_words(node: Any) -> Any:
    match node:
        case dict():
            return {key: remove_words(value) for key, value in node.items() if key not in WORDS}
        case list():
            return [remove_words(one) for one in node]
    return node


@pytest.mark.parametrize("name", ["salad#Any", "cwl#File", "cwl#Directory"])
def test_basic_types_are_equal_in_the_first_and_the_newest_version(name: str) -> None:
    """cwltool itself takes these types from v1.0."""
    first, newest = (
        remove_words(get_schema(version)[3].idx[f"https://w3id.org/cwl/{name}"])
        for version in ("v1.0", "v1.2")
    )
    assert first["name"].endswith(name)
    assert first == newest


@pytest.mark.parametrize(
    "load",
    [
        "import os; from pilot.runner.cwl.documents import warm_up; warm_up(os.getcwd())",
        (
            "from sluice.cwl import compile_template; compile_template(open('template.cwl').read(),"
            " name='t').plan or 1 / 0"
        ),
    ],
    ids=["pilot", "checker"],
)
def test_only_one_schema_is_loaded(load: str, tmp_path: Any) -> None:
    (tmp_path / "template.cwl").write_text(TEMPLATE)
    program = f"{load}\nfrom cwltool.process import SCHEMA_CACHE; print(*SCHEMA_CACHE)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["v1.2"]


TEMPLATE = """
cwlVersion: v1.2
class: Workflow
inputs: {texts: "File[]"}
outputs: {counts: {type: "File[]", outputSource: count/out}}
steps:
  count:
    in: {text: texts}
    out: [out]
    scatter: text
    run:
      class: CommandLineTool
      baseCommand: [wc, -w]
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {out: stdout}
requirements: {ScatterFeatureRequirement: {}}
"""
