"""Services never evaluate the expressions of a template; only pilots do (invariant 9)."""

import ast
import subprocess
from pathlib import Path
from typing import Any, NoReturn

import pytest

from sluice.cwl.compiler import compile_template

ROOT = Path(__file__).parents[4]
SERVICES = ("dms", "wms", "wfms", "sluice")

#: Modules that may import CWL libraries.
READERS = {
    ROOT / "sluice/cwl/cwltool_checks",
    ROOT / "sluice/cwl_runner",
    ROOT / "sluice/tools/cwltool_types.py",
}

#: An expression that never ends if it is evaluated.
ENDLESS = "${ while (true) {} }"

TEMPLATE = f"""
cwlVersion: v1.2
class: Workflow
requirements: {{ScatterFeatureRequirement: {{}}, InlineJavascriptRequirement: {{}}}}
inputs: {{files: "File[]"}}
outputs:
  made: {{type: "File[]", outputSource: make/made}}
steps:
  make:
    scatter: file
    in: {{file: files}}
    out: [made]
    run:
      class: CommandLineTool
      requirements: {{ToolTimeLimit: {{timelimit: 60}}}}
      baseCommand: cat
      inputs: {{file: File}}
      arguments: ["{ENDLESS}"]
      stdout: $(inputs.file.nameroot).out
      outputs: {{made: stdout}}
"""


class EvaluatedError(Exception):
    pass


def refuse(*_: Any, **__: Any) -> NoReturn:
    raise EvaluatedError


def test_compiler_keeps_expressions_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler calls no evaluator, in its own process or in another (node)."""
    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr("cwl_utils.expression.do_eval", refuse)
    monkeypatch.setattr("cwl_utils.expression.interpolate", refuse)
    compiled = compile_template(TEMPLATE, name="t")
    assert compiled.plan is not None, compiled.findings
    tool = compiled.plan.step("make").tool
    assert tool["arguments"] == [ENDLESS]
    assert tool["stdout"] == "$(inputs.file.nameroot).out"


def test_services_import_no_expression_evaluator() -> None:
    """Only the compiler and cwl-runner import CWL libraries; only pilots import evaluators."""
    findings = []
    for service in SERVICES:
        for path in sorted((ROOT / service).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                # The compiler's own module for expressions evaluates none.
                names = [name for name in names if not name.startswith("sluice.cwl.")]
                reads_cwl = any(name.split(".")[0] in {"cwltool", "cwl_utils"} for name in names)
                evaluates = any("expression" in name or "sandboxjs" in name for name in names)
                if evaluates or (reads_cwl and not READERS & {path, path.parent}):
                    findings.append(f"{path.relative_to(ROOT)}: {', '.join(names)}")
    assert not findings
