"""The workflow agrees with its programs, which refuse bad pages before they load a model."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ocr.images import MAX_MEGAPIXELS
from ruamel.yaml import YAML

from sluice.cwl import compile_file, compile_template
from sluice.cwl.composing import join_tools, read_tool, workflow_text

PACK = Path(__file__).parents[2]
TOOLS = sorted((PACK / "tools").glob("*.cwl"))


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = YAML(typ="safe").load(path.read_text())
    return document


def test_default_size_limit_of_the_workflow_equals_that_of_the_programs() -> None:
    limits = [
        document["inputs"]["max_megapixels"]["default"]
        for document in map(_read, [PACK / "workflow.cwl", *TOOLS])
        if "max_megapixels" in document["inputs"]
    ]
    assert limits == [MAX_MEGAPIXELS] * 3


def test_each_tool_is_an_installed_program_with_a_description() -> None:
    scripts = tomllib.loads((PACK / "pyproject.toml").read_text())["project"]["scripts"]
    assert len(TOOLS) >= 5
    for path in TOOLS:
        tool = _read(path)
        assert tool["baseCommand"] == path.stem
        assert path.stem in scripts
        assert tool["doc"]


def test_tools_compose_to_the_same_workflow() -> None:
    names = ["ocr-layout", "ocr-transcribe", "ocr-export", "ocr-volume"]
    tools = []
    for name in names:
        tool, findings = read_tool((PACK / "tools" / f"{name}.cwl").read_text(), file=name)
        assert tool is not None, findings
        tools.append((name, tool))
    bind = {"ocr-layout_config": "asset:ocr-layout", "ocr-transcribe_config": "asset:ocr-model"}
    joined = join_tools(tools, bind=bind)
    assert joined.misfits == []
    text = workflow_text(joined, labels={name: name for name in names})
    composed = compile_template(text, name="composed").plan
    written = compile_file(PACK / "workflow.cwl", name="ocr")[0].plan
    assert composed is not None
    assert written is not None
    assert list(composed.assets.values()) == list(written.assets.values())
    for composed_step, written_step in zip(composed.steps, written.steps, strict=True):
        assert (composed_step.mode, composed_step.needs.warm) == (
            written_step.mode,
            written_step.needs.warm,
        )
        assert [read.port for read in composed_step.inputs] == [
            read.port for read in written_step.inputs
        ]
    misfit_workflow = join_tools(tools, bind={"config": "asset:ocr-layout"})
    assert misfit_workflow.misfits == [
        "bind: 'config' is not a parameter of the workflow, which has ocr-layout_config,"
        " ocr-layout_max_megapixels, ocr-transcribe_config, ocr-transcribe_max_megapixels, name"
    ]


def test_failed_page_does_not_stop_the_volume() -> None:
    steps = _read(PACK / "workflow.cwl")["steps"]
    for step in steps.values():
        assert ("scatter" in step) == ("sluice:boundary" in step)
    assert [name for name, step in steps.items() if "scatter" not in step] == ["volume_files"]


def test_workflow_uses_no_javascript() -> None:
    for path in [PACK / "workflow.cwl", *TOOLS]:
        text = path.read_text()
        assert "InlineJavascriptRequirement" not in text
        assert "${" not in text


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("cut", "cannot be decoded to its end"),
        ("text", "this is not an image"),
        ("empty", "the file is empty"),
        ("zero", "has no pixels"),
        ("huge", "has 60000 × 60000 pixels"),
    ],
)
def test_bad_page_is_refused_before_a_model_is_loaded(
    damage: str, sentence: str, damaged: Path, tmp_path: Path
) -> None:
    program = (
        "import sys\n"
        "from ocr.layout import main\n"
        "code = main(sys.argv[1:])\n"
        "assert 'torch' not in sys.modules and 'pero_ocr' not in sys.modules\n"
        "raise SystemExit(code)\n"
    )
    image, out = damaged / f"{damage}.png", tmp_path / "out.xml"
    arguments = [str(image), "--config", str(PACK / "config" / "layout"), "--out", str(out)]
    ended = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 65, ended.stderr
    assert ended.stderr.startswith(f"ocr-layout: {image}: ")
    assert sentence in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert not out.exists()
