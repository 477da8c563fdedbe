"""Tests that each error in a template is reported with its place.

Errors that ``tests/wrong/findings.txt`` expects are not repeated here.

The mark ¦ in a case stands before the place that a message points at.
"""

# ruff: noqa: E501 (one case a line keeps the table readable)

from pathlib import Path

import pytest

from sluice.cwl import compile_template
from tests.unit.cwl.samples import GRAPH, LINEAR, edit_text, remove_marks

Edits = list[tuple[str, str]]

CUDA = ("$namespaces:", '$namespaces:\n  cwltool: "http://commonwl.org/cwltool#"')

CASES: dict[str, tuple[Edits, list[str]]] = {
    "share out of range": ([("{minimum: 0.9}", "{¦minimum: 1.9}")], ["less than or equal to 1, not 1.9"]),
    "unknown key of an extension": ([("{minimum: 0.9}", "{¦minimun: 0.9}")], ["did you mean 'minimum'?"]),
    "wrong type in an extension": ([("{files: 10}", "{¦files: ten}")], ["valid integer, not 'ten'"]),
    "extension that is no mapping": ([("sluice:merge: {files: 10}", "¦sluice:merge: 10")], ["sluice:merge: {files: 25}"]),
    "merge tree of single files": ([("sluice:merge: {files: 10}", "¦sluice:merge: {files: 1, tree: true}")], ["groups are of two files or more"]),
    "merge tree by size": ([("sluice:merge: {files: 10}", "¦sluice:merge: {bytes: 10, tree: true}")], ["groups are of two files or more"]),
    "merge tree with losses": ([("sluice:merge: {files: 10}", "sluice:boundary: {minimum: 0.5}\n    ¦sluice:merge: {files: 10, tree: true}")], ["every job must succeed"]),
    "merge tree of two outputs": ([("    sluice:merge: {files: 10}", "    ¦sluice:merge: {files: 10, tree: true}"), ("    out: [joined]", "    out: [joined, log]"), ("        joined: stdout", "        joined: stdout\n        log: stderr")], ["it has 2 outputs"]),
    "merge tree of something else": ([("    sluice:merge: {files: 10}", "    ¦sluice:merge: {files: 10, tree: true}"), ("        joined: stdout", "        joined: {type: int, outputBinding: {glob: x, outputEval: '$(self[0].size)'}}"), ("    type: File\n    outputSource", "    type: int\n    outputSource")], ["its output 'joined' is int"]),
    "extension not there yet": ([("sluice:merge: {files: 10}", "¦sluice:device: gpu")], ["'sluice:device' is not supported yet"]),
    "share of a GPU out of range": ([("sluice:boundary: {minimum: 0.9}", "sluice:gpu: {¦share: 1.5}")], ["less than or equal to 1, not 1.5"]),
    "amount of a resource that is none": ([("sluice:boundary: {minimum: 0.9}", "sluice:resources: {¦licence: true}")], ["licence: is how much of it a job needs, not true"]),
    "amount of a resource that is too small": ([("sluice:boundary: {minimum: 0.9}", "sluice:resources: {¦licence: 0}")], ["licence: input should be greater than or equal to 0.001"]),
    "name of a resource": ([("sluice:boundary: {minimum: 0.9}", "sluice:resources: {¦9x: 1}")], ["'9x' begins with '9': a resource's or label's name"]),
    "value of a label that is a number": ([("sluice:boundary: {minimum: 0.9}", "sluice:nodes: {¦site: 3}")], ["site: is the value that the nodes' label has, or a list of such, in text; not 3"]),
    "no value of a label": ([("sluice:boundary: {minimum: 0.9}", "sluice:nodes: {¦site: []}")], ["a list of such, in text; not []"]),
    "resources that are no mapping": ([("sluice:boundary: {minimum: 0.9}", "¦sluice:resources: 3")], ["is a mapping; sluice:resources: {licence: 1}"]),
    "unknown key of a GPU": ([("sluice:boundary: {minimum: 0.9}", "sluice:gpu: {¦shares: 0.5}")], ["did you mean 'share'?"]),
    "version of CUDA that is a number": ([CUDA, ("{timelimit: 10}\n  join", "{timelimit: 10}\n        cwltool:CUDARequirement: {¦cudaVersionMin: 11.4}\n  join")], ["a version in quotes, such as \"11.4\", not 11.4"]),
    "compute capability that is a word": ([CUDA, ("{timelimit: 10}\n  join", "{timelimit: 10}\n        cwltool:CUDARequirement: {¦cudaComputeCapability: ['8.0', ampere]}\n  join")], ["not 'ampere'"]),
    "no GPUs": ([CUDA, ("{timelimit: 10}\n  join", "{timelimit: 10}\n        cwltool:CUDARequirement: {¦cudaDeviceCountMin: 0}\n  join")], ["a number from 1 to 64, not 0"]),
    "fewer GPUs than the least": ([CUDA, ("{timelimit: 10}\n  join", "{timelimit: 10}\n        cwltool:CUDARequirement: {cudaDeviceCountMin: 3, ¦cudaDeviceCountMax: 2}\n  join")], ["is fewer than 'cudaDeviceCountMin', 3"]),
    "misspelt field of a CUDARequirement": ([CUDA, ("{timelimit: 10}\n  join", "{timelimit: 10}\n        cwltool:CUDARequirement: {¦cudaVersion: '11'}\n  join")], ["did you mean 'cudaVersionMin'?"]),
    "share of several GPUs": ([CUDA, ("    out: [number]", "    out: [number]\n    ¦sluice:gpu: {share: 0.5}"), ("{timelimit: 10}\n  join", "{timelimit: 10}\n        cwltool:CUDARequirement: {cudaDeviceCountMin: 2}\n  join")], ["a share is of one GPU"]),
    "batch of nothing": ([("sluice:boundary: {minimum: 0.9}", "sluice:batch: {¦files: 0}")], ["greater than or equal to 1"]),
    "unknown output": ([("parts: count/number", "¦parts: count/numbers")], ["has no output 'numbers' in its 'out'; did you mean 'number'?"]),
    "unknown output of the tool": (
        [("out: [number]", "out: [¦numbr]"), ("parts: count/number", "¦parts: count/number")],
        ["has no output 'numbr'; did you mean 'number'?", "has no output 'number' in its 'out'"],
    ),
    "scatter over a parameter": ([("scatter: frame", "¦scatter: limit"), ("frame: frames", "¦frame: frames"), ("limit: limit", "¦limit: limit")], ["parameter 'limit' is int, which is not a list", "takes File, and 'frames' is File[]", "takes int[], and 'limit' is int"]),
    "scatter over nothing": ([("scatter: frame", "¦scatter: fram"), ("frame: frames", "¦frame: frames")], ["did you mean 'frame'?", "takes File, and 'frames' is File[]"]),
    "no data set": ([("sluice:match", "¦sluice:match"), ("frames: File[]", "frames: string[]"), ("frame: frames", "¦frame: frames")], ["'sluice:match' refers to the data set, but no input of the workflow is a data set: leave it out", "takes File[], and 'frames' is string[]"]),
    "metadata of no data set": ([("sluice:match: {sluice:type: raw, detector: spd}", "sluice:bind: {¦note: name}\nsluice:require: {¦files: 2, ¦bytes: 2, ¦meta: {a: 1}, parameters: {limit: 5}}\nsluice:retention: {¦input: delete, logs: keep}"), ("frames: File[]", "frames: string[]"), ("        frame: {type: File,", "        frame: {type: string,")], ["'sluice:bind: note' refers to the data set", "'sluice:require: files'", "'sluice:require: bytes'", "'sluice:require: meta'", "'sluice:retention: input'"]),
    "folder with a default": ([("  note: string?", "  note: {type: Directory?, ¦default: {class: Directory, listing: []}}"), ("        note: string?", "        note: Directory?")], ["only a single file without secondary files can be a default"]),
    "files beside a file that comes by default": ([("  note: string?", "  note: {type: File?, secondaryFiles: [.a], ¦default: {class: File, contents: a}}"), ("        note: string?", "        note: File?")], ["only a single file without secondary files can be a default"]),
    "asset with files beside it": ([("sluice:match", "sluice:bind: {note: asset:a}\nsluice:match"), ("  note: string?", "  note: {type: File, ¦secondaryFiles: [.idx]}"), ("        note: string?", "        note: File?")], ["whose files have no secondary files"]),
    "asset with a default": ([("sluice:match", "sluice:bind: {note: asset:a}\nsluice:match"), ("  note: string?", "  note: {type: File, ¦default: {class: File, contents: a}}"), ("        note: string?", "        note: File?")], ["bound to an asset: leave its default out"]),
    "file scattered over": ([("  note: string?", "  note: File"), ("    scatter: frame\n    in:\n      frame: frames", "    scatter: [frame, note]\n    scatterMethod: dotproduct\n    in:\n      ¦note: note\n      frame: frames"), ("        frame: {type: File, inp", "        note: File\n        frame: {type: File, inp"), ("        note: string?", "        note: File?")], ["takes File[], and 'note' is File"]),
    "name taken as a type": ([("{type: int, inputBinding", "{¦type: limit, inputBinding")], ["there is no type 'limit'"]),
    "requirements left empty": ([("  ScatterFeatureRequirement: {}\n", ""), ("requirements:", "¦requirements:"), ("scatter: frame", "¦scatter: frame")], ["'requirements' is empty", "ScatterFeatureRequirement"]),
    "text in place of ports": ([("      inputs:\n        parts: File[]\n        note: string?", "      ¦inputs: |\n        - parts\n        - note"), ("parts: count", "¦parts: count"), ("note: note", "¦note: note")], ["has no input 'parts'", "has no input 'note'", "is not a list"]),
    "missing tool": ([("    run:\n      class: CommandLineTool\n      baseCommand: cat", "    xrun:\n      class: CommandLineTool\n      baseCommand: cat"), ("  join:", "  ¦join:"), ("xrun", "¦xrun")], ["'run' is missing", "no field 'xrun' here"]),
    "files and values": ([("      parts: count/number", "      ¦parts: {source: [count/number, note], linkMerge: merge_flattened}"), ("requirements:\n", "requirements:\n  MultipleInputFeatureRequirement: {}\n")], ["Source 'note' of type"]),
    "one file of a data set": ([("    outputSource: join/joined", "    outputSource: count/number\n    ¦pickValue: first_non_null")], ["'count/number' is a whole data set: let a step before it choose"]),
    "one of several lists where one file is taken": ([("    type: File\n    outputSource: join/joined", "    type: 'File[]'\n    ¦outputSource: [join/joined, join/joined]\n    pickValue: first_non_null")], ["output 'all' takes File[]"]),
    "several files from a job": ([("joined: stdout", "joined: {type: 'File[]', outputBinding: {glob: '*'}}"), ("    outputSource", "    ¦outputSource")], ["takes File, and 'join/joined' is File[]"]),
    "number from a job": ([("joined: stdout", "joined: {type: int, outputBinding: {glob: d}}"), ("    outputSource", "    ¦outputSource")], ["takes File, and 'join/joined' is int"]),
    "same output twice": ([("outputs:\n  all:", "outputs:\n  first: {type: File, outputSource: join/joined}\n  all:"), ("    outputSource: join", "    ¦outputSource: join")], ["are the same data set"]),
    "key twice": ([("    out: [number]", "    out: [number]\n    ¦out: [number]")], ["'out' is a duplicate; the first is in line 25"]),
    "container built on the node": ([("ToolTimeLimit: {timelimit: 10}\n  join", "ToolTimeLimit: {timelimit: 10}\n        DockerRequirement: {dockerImageId: x, ¦dockerFile: FROM debian}\n  join")], ["'dockerFile' of step 'count' is not supported: put the image into a registry"]),
    "container from a file": ([("ToolTimeLimit: {timelimit: 10}\n  join", "ToolTimeLimit: {timelimit: 10}\n        DockerRequirement: {dockerImageId: x, ¦dockerLoad: x.tar}\n  join")], ["'dockerLoad' of step 'count' is not supported"]),
    "container from a folder tree": ([("ToolTimeLimit: {timelimit: 10}\n  join", "ToolTimeLimit: {timelimit: 10}\n        DockerRequirement: {dockerImageId: x, ¦dockerImport: x.tar}\n  join")], ["'dockerImport' of step 'count' is not supported"]),
    "container of no image": ([("ToolTimeLimit: {timelimit: 10}\n  join", "ToolTimeLimit: {timelimit: 10}\n        ¦DockerRequirement: {dockerOutputDirectory: /out}\n  join")], ["names no image: write 'dockerPull'"]),
    "image that is an option": ([("ToolTimeLimit: {timelimit: 10}\n  join", "ToolTimeLimit: {timelimit: 10}\n        DockerRequirement: {¦dockerPull: --privileged}\n  join")], ["'dockerPull' is not an image name: '--privileged'"]),
    "image that is a URL": ([("ToolTimeLimit: {timelimit: 10}\n  join", "ToolTimeLimit: {timelimit: 10}\n        DockerRequirement: {¦dockerImageId: 'docker://debian'}\n  join")], ["is not an image name"]),
    "secrets of a tool": ([("$namespaces:", "$namespaces:\n  cwltool: 'http://commonwl.org/cwltool#'"), ("ToolTimeLimit: {timelimit: 10}\n  join", "ToolTimeLimit: {timelimit: 10}\n      hints:\n        ¦cwltool:Secrets: {secrets: [limit]}\n  join")], ["'cwltool:Secrets' names 'limit', whose value is not secret"]),
    "several processes of a step": ([("$namespaces:", "$namespaces:\n  cwltool: 'http://commonwl.org/cwltool#'"), ("  join:\n", "  join:\n    hints: [¦{class: cwltool:MPIRequirement, processes: 2}]\n")], ["'cwltool:MPIRequirement' is not supported, not even as a hint"]),
    "infinite amount": ([("ToolTimeLimit: {timelimit: 10}\n  join", "ToolTimeLimit: {timelimit: 10}\n        ResourceRequirement: {ramMin: ¦1e999}\n  join")], ["not a number that can be represented"]),
    "more than there is": ([("ToolTimeLimit: {timelimit: 10}\n  join", "ToolTimeLimit: {¦timelimit: 10000000000}\n  join")], ["at most 1000000000 s"]),
    "import": ([("inputs:\n        parts: File[]", "inputs:\n        parts: {¦$import: types.yml}")], ["reads another file"]),
    "unknown version": ([("cwlVersion", "¦cwlVersion"), ("v1.2", "v3.0")], ["'v3.0' is not supported"]),
    "namespaces that are none": ([("\n  sluice: \"urn:sluice:cwl:\"", " 5"), ("$namespaces", "¦$namespaces"), ("sluice:match", "¦sluice:match")], ["maps prefixes", "is not declared"]),
    "no class": ([("cwlVersion: v1.2\nclass: Workflow", "¦cwlVersion: v1.2")], ["there is no 'class'"]),
    "misspelt class": ([("class: Workflow", "¦class: Worklfow")], ["did you mean 'Workflow'?"]),
    "many at once": (
        [("sluice:boundary", "¦sluice:bondary"), ("frame: frames", "¦frame: framess"), ("baseCommand: cat", "¦baseComand: cat"), ("    default: 5", "    ¦default: x")],
        ["the default of parameter 'limit'", "'framess'", "'sluice:bondary'", "'baseComand'"],
    ),
}  # fmt: skip


#: Errors in steps that read several data sets.
GRAPH_CASES: dict[str, tuple[Edits, list[str]]] = {
    "two that wait for each other": (
        [("  total:\n", "  ¦total:\n"), ("parts: upper/big", "parts: mark/marked")],
        ["in a cycle: total → mark → total"],
    ),
}


#: Errors in a step that runs a nested workflow.
NESTED_CASES: dict[str, tuple[Edits, list[str]]] = {
    "container inside": (
        [("envDef: {LC_ALL: C}}, ", "envDef: {LC_ALL: C}}, DockerRequirement: {¦dockerLoad: x}, ")],
        ["'dockerLoad' of step 'clean' is not supported"],
    ),
    "tool inside that is a file": (
        [
            (
                "          out: [sorted]\n          run:",
                "          out: [sorted]\n          ¦run: sort.cwl\n          hints:",
            ),
            (
                "            class: CommandLineTool\n            baseCommand: [sort, -r]\n            inputs: {text: {type: File, inputBinding: {}}}\n            outputs: {sorted: stdout}\n            stdout: sorted.txt\n            requirements: {EnvVarRequirement: {envDef: {LC_ALL: C}}, ToolTimeLimit: {timelimit: 60}}\n",
                "            ToolTimeLimit: {timelimit: 60}\n",
            ),
        ],
        ["'sort.cwl' of step 'sort' is another file"],
    ),
    "field of ours inside": (
        [
            (
                "requirements: {Scatter",
                '$namespaces: {sluice: "urn:sluice:cwl:"}\nrequirements: {Scatter',
            ),
            (
                "          in: {text: text}\n",
                "          in: {text: text}\n          ¦sluice:rank: 2\n",
            ),
        ],
        ["sluice:rank"],
    ),
    "requirement inside that is not known": (
        [("envDef: {LC_ALL: C}}, ", "envDef: {LC_ALL: C}}, ¦ToolTimeLimt: {timelimit: 1}, ")],
        ["did you mean 'ToolTimeLimit'?"],
    ),
}
TEXTS = {
    **dict.fromkeys(CASES, LINEAR),
    **dict.fromkeys(GRAPH_CASES, GRAPH),
    **dict.fromkeys(
        NESTED_CASES,
        (Path(__file__).parents[3] / "differential" / "templates" / "nested.cwl").read_text(),
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_error_is_reported_with_its_place(case: str) -> None:
    edits, messages = {**CASES, **GRAPH_CASES, **NESTED_CASES}[case]
    text, places = remove_marks(edit_text(*edits, text=TEXTS[case]))
    compiled = compile_template(text, name="t")
    assert compiled.plan is None
    error_places = [(error.line, error.column) for error in compiled.errors]
    assert error_places == places, "\n".join(map(str, compiled.errors))
    for error, part in zip(compiled.errors, messages, strict=True):
        assert part in error.message
        assert error.file == "workflow.cwl"


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([("  note: string?", "  ¦note: string?"), ("      note: note\n", "")], "'note' is never used"),
        ([("  count:\n", "  ¦count:\n"), ("      requirements:\n        ToolTimeLimit: {timelimit: 10}\n  join", "  join")], "has no time limit"),
        ([("        parts: File[]\n", "        parts: {type: 'File[]', ¦inputBinding: {}}\n")], "takes minutes for thousands of files"),
        ([("ToolTimeLimit: {timelimit: 10}\n  join", "ToolTimeLimit: {timelimit: 10}\n      hints:\n        ¦DockerRequirement: {dockerPull: x}\n  join")], "is a hint"),
        ([("ToolTimeLimit: {timelimit: 10}\n  join", "ToolTimeLimit: {timelimit: 10}\n      hints:\n        DockerRequirement: {dockerImageId: x, ¦dockerFile: FROM x}\n  join")], "'dockerFile' of step 'count' is not supported"),
        ([("{timelimit: 10}\n  join", "{timelimit: 10}\n        ResourceRequirement: {¦ramMin: $(inputs.limit)}\n  join")], "is an expression"),
        ([("    type: int\n    default: 5", "    type: int?"), ("limit: limit", "¦limit: limit")], "takes int, and 'limit' is int?"),
        ([("        joined: stdout", "        ¦joined: File")], "is File without outputBinding: a job fails unless its tool writes a cwl.output.json"),
        ([("        joined: stdout", "        joined: {type: File, outputBinding: {glob: x}}\n        ¦more: File[]\n        note: string\n        left: File?\n        kept: {type: {type: record, fields: {f: {type: File, outputBinding: {glob: x}}}}}")], "is File[] without outputBinding"),
        ([("arguments: [$(inputs.parts)]", "arguments: [{valueFrom: $(inputs.parts), ¦shellQuote: false}]")], "has no effect in the tool of step 'join', which is not run by a shell"),
        ([("inputBinding: {position: 1}", "inputBinding: {position: 1, ¦shellQuote: false}")], "add 'ShellCommandRequirement: {}' to its requirements"),
        ([("requirements:\n  Scatter", "hints:\n  ¦acme:Fast: {}\nrequirements:\n  Scatter")], "'acme:Fast' is not known here"),
    ],
)  # fmt: skip
def test_legal_but_harmful_template_gives_a_warning(edits: Edits, message: str) -> None:
    text, places = remove_marks(edit_text(*edits))
    compiled = compile_template(text, name="t")
    assert compiled.plan is not None, compiled.errors
    assert [(warning.line, warning.column) for warning in compiled.warnings] == places
    assert message in compiled.warnings[0].message


def test_workflow_may_require_the_shell_for_its_tools() -> None:
    unquoted = ("inputBinding: {position: 1}", "inputBinding: {position: 1, shellQuote: false}")
    assert (
        compile_template(
            edit_text(unquoted, ("  Scatter", "  ShellCommandRequirement: {}\n  Scatter")), name="t"
        ).findings
        == []
    )


def test_sample_template_has_no_findings() -> None:
    assert compile_template(LINEAR, name="t").findings == []
