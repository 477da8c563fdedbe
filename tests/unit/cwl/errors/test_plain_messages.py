"""Messages about wrong CWL are written for people and show no internals of programs."""

import pytest

from sluice.cwl.compiler import compile_upload
from sluice.cwl.reading.uploads import take_files
from tests.unit.cwl.errors.program_internals import find_messages_with_internals

TOOL = """
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs: {f: File}
      outputs: {o: stdout}
"""
HEAD = "cwlVersion: v1.2\nclass: Workflow\n"
PORTS = "inputs: {files: 'File[]'}\noutputs: {o: {type: 'File[]', outputSource: s/o}}\n"
STEP = "steps:\n  s:\n    in: {f: files}\n    out: [o]\n    scatter: f"
#: Wrong documents by the kind of error.
CORPUS = {
    "empty sections": f"{HEAD}inputs:\noutputs:\nsteps:\n",
    "empty hints of a tool": f"{HEAD}{PORTS}{STEP}{TOOL}      hints:\n      requirements:\n",
    "empty inputs of a tool": f"{HEAD}{PORTS}{STEP}{TOOL}".replace("{f: File}", "{f: }"),
    "empty outputs of a tool": f"{HEAD}{PORTS}{STEP}{TOOL}".replace("{o: stdout}", "{o: }"),
    "empty out and run": f"{HEAD}{PORTS}steps:\n  s:\n    in: {{f: files}}\n    out:\n    run:\n",
    "empty items": f"{HEAD}inputs: {{f: {{type: array, items: }}}}\noutputs: {{}}\nsteps: {{}}\n",
    "a bare list": "- 1\n- 2\n",
    "names as inputs": f"{HEAD}inputs: [files]\noutputs: []\nsteps: []\n",
    "an unknown version": f"cwlVersion: v3\nclass: Workflow\n{PORTS}{STEP}{TOOL}",
    "no processes": "cwlVersion: v1.2\n$graph: []\n",
    "numbers and nulls": (
        f"{HEAD}{PORTS}requirements: [null, 3, {{class: null}}]\nhints: [null]\nsteps:\n  s:\n"
        "    in: [{id: f, source: [files, null]}, null]\n    out: [null, {id: null}, 3]\n"
        "    scatter: null\n    when: 3\n    run: {class: null}\n"
    ),
    "values of other kinds": (
        f"{HEAD}{PORTS}{STEP}{TOOL}".replace("{f: File}", "{f: {type: File, inputBinding: 3}}")
        .replace("baseCommand: cat", "baseCommand: {a: b}\n      arguments: [1, null]")
        .replace("o: stdout", "o: {type: stdout, outputBinding: {glob: 3}}")
    ),
    "amounts that are none": (
        f"{HEAD}{PORTS}{STEP}{TOOL}"
        "      requirements: {ToolTimeLimit: {timelimit: -4}, ResourceRequirement: {ramMin: x}}\n"
    ),
    "types without their fields": (
        f"{HEAD}{PORTS}{STEP}{TOOL}".replace("f: File", "f: {type: record, fields: null}").replace(
            "o: stdout", "o: {type: {type: enum, symbols: null}}"
        )
    ),
    "an unknown method": f"{HEAD}{PORTS}{STEP}\n    scatterMethod: nope{TOOL}",
    "fields of ours": (
        f"{HEAD}$namespaces: {{sluice: 3}}\n$schemas: [x.rdf]\nsluice:match: null\n{PORTS}{STEP}"
        f"\n    sluice:boundary: 7{TOOL}"
    ),
    "a folder as a file": f"{HEAD}{PORTS}{STEP}\n    run: .\n",
    "a missing file": f"{HEAD}{PORTS}{STEP}\n    run: missing.cwl\n",
    "a file elsewhere": f"{HEAD}{PORTS}{STEP}\n    run: {{$include: '../../etc/passwd'}}\n",
    "no YAML": f"{HEAD}inputs: [\n",
    "nothing": "",
    "an alias in itself": f"{HEAD}inputs: &a {{x: *a}}\n{STEP}{TOOL}",
    "types that nobody knows": (
        f"{HEAD}{PORTS}{STEP}{TOOL}".replace("File[]", "Filee[]").replace("f: File", "f: Filee")
    ),
}


def list_messages(text: str) -> list[str]:
    """Return the messages of all findings of a template."""
    compiled = compile_upload(take_files({"t.cwl": text.encode()}), name="t").compiled
    return [finding.message for finding in compiled.findings]


@pytest.mark.parametrize("case", CORPUS)
def test_messages_about_wrong_cwl_show_no_program_internals(case: str) -> None:
    messages = list_messages(CORPUS[case])
    assert messages
    assert find_messages_with_internals(messages) == []


@pytest.mark.parametrize("form", ["{}", "{{id: {}}}"])
@pytest.mark.parametrize("number", [50, 51])
def test_unknown_output_of_a_step_with_many_outputs_is_reported_in_words(
    number: int, form: str
) -> None:
    outputs = [f"plot_{one}" for one in range(number)]
    messages = list_messages(
        f"{HEAD}inputs: {{files: 'File[]'}}\n"
        "outputs: {o: {type: 'File[]', outputSource: s/nope}}\nsteps:\n  s:\n"
        f"    in: {{f: files}}\n    out: [{', '.join(form.format(one) for one in outputs)}]\n"
        f"    scatter: f{TOOL}"
    )
    assert any("no output 'nope'" in message for message in messages)
    assert find_messages_with_internals(messages) == []
