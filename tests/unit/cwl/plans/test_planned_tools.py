"""The tools of a plan's steps, and the resource requests of their jobs."""

import json
from pathlib import Path

import pytest
from cwltool.context import LoadingContext
from cwltool.load_tool import load_tool
from cwltool.workflow import default_make_tool

from sluice.contracts.common.states import DeviceType
from sluice.contracts.jobs.gpus import GpuNeeds
from sluice.contracts.jobs.needs import Container, ContainerImage
from sluice.contracts.templates.plan import (
    Source,
)
from tests.unit.cwl.samples import LINEAR, compile_plan, edit_text

SPD = Path(__file__).parents[4] / "templates" / "spd" / "workflow.cwl"


def test_job_of_a_nested_workflow_requests_the_sum_of_its_tools() -> None:
    text = (Path(__file__).parents[3] / "differential" / "templates" / "nested.cwl").read_text()
    limits = (
        "{LC_ALL: C}}, ToolTimeLimit: {timelimit: 60}",
        "{LC_ALL: C}}, ToolTimeLimit: {timelimit: 30}, ResourceRequirement: {ramMin: 900}",
    )
    [clean] = compile_plan(edit_text(limits, text=text)).steps
    assert (clean.needs.resources.time_limit, clean.needs.resources.ram) == (150, 900)
    assert [output.port for output in clean.outputs] == ["cleaned", "lines"]
    [endless] = compile_plan(edit_text((limits[0], limits[1].replace("30", "0")), text=text)).steps
    assert endless.needs.resources.time_limit == 0


@pytest.mark.parametrize("text", [LINEAR, SPD.read_text()])
def test_planned_tool_is_a_document_that_cwltool_loads(text: str, tmp_path: Path) -> None:
    for step in compile_plan(text).steps:
        path = tmp_path / f"{step.name}.json"
        path.write_text(json.dumps(step.tool))
        tool = load_tool(
            str(path), LoadingContext({"construct_tool_object": default_make_tool, "strict": True})
        )
        assert {port["id"].rsplit("#")[-1].rsplit("/")[-1] for port in tool.tool["inputs"]} >= {
            step.main_input.port,
            *step.arguments,
        }


def test_nearest_requirement_applies_to_the_tool() -> None:
    text = edit_text(
        (
            "  ScatterFeatureRequirement: {}",
            "  ScatterFeatureRequirement: {}\n  ResourceRequirement: {coresMin: 2, ramMin: 100.5}",
        ),
        (
            "    out: [number]",
            (
                "    out: [number]\n    requirements: [{class: ResourceRequirement, coresMin: 3,"
                " outdirMin: 7, tmpdirMin: 5}]"
            ),
        ),
        ("doc: Counts", "hints: {ResourceRequirement: {coresMin: 9}}\ndoc: Counts"),
    )
    count, join = compile_plan(text).steps
    assert (count.needs.resources.cores, count.needs.resources.ram, count.needs.resources.disk) == (
        3,
        0,
        12,
    )
    assert (join.needs.resources.cores, join.needs.resources.ram, join.needs.resources.disk) == (
        2,
        101,
        1024,
    )
    assert join.needs.resources.counted_disk == 0, "no requirement asks for disk"
    assert {requirement["class"] for requirement in count.tool["requirements"]} == {
        "ToolTimeLimit",
        "ResourceRequirement",
    }


def test_explicit_disk_request_counts_even_if_it_equals_the_default() -> None:
    for disk_request in ("outdirMin: 1024", "outdirMin: 1000, tmpdirMin: 24"):
        text = edit_text(
            ("doc: Counts", f"hints: {{ResourceRequirement: {{{disk_request}}}}}\ndoc: Counts")
        )
        assert compile_plan(text).steps[0].needs.resources.counted_disk >= 1024, disk_request
    unasked = compile_plan(edit_text(("doc: Counts", "doc: Counts"))).steps[0].needs.resources
    assert unasked.counted_disk == 0


def test_cuda_requirement_requests_a_gpu() -> None:
    cuda = (
        "cwltool:CUDARequirement: {cudaVersionMin: '11', cudaComputeCapability: '5',"
        " cudaDeviceCountMin: 1}"
    )
    text = edit_text(
        ("$namespaces:", '$namespaces:\n  cwltool: "http://commonwl.org/cwltool#"'),
        ("{timelimit: 10}\n  join", "{timelimit: 10}\n        " + cuda + "\n  join"),
    )
    count, join = compile_plan(text).steps
    assert (count.needs.device_type, join.needs.device_type) == (DeviceType.GPU, DeviceType.CPU)
    assert [hint["class"] for hint in count.tool["hints"]] == ["cwltool:CUDARequirement"]
    assert count.tool["$namespaces"] == {"cwltool": "http://commonwl.org/cwltool#"}


def compile_gpu_needs(cuda: str, more: str = "") -> GpuNeeds | None:
    """Return the GPU request of a step whose CUDARequirement has the fields ``cuda``.

    ``more`` holds extension fields of the step.
    """
    text = edit_text(
        ("$namespaces:", '$namespaces:\n  cwltool: "http://commonwl.org/cwltool#"'),
        (
            "{timelimit: 10}\n  join",
            f"{{timelimit: 10}}\n        cwltool:CUDARequirement: {{{cuda}}}\n  join",
        ),
        ("    out: [number]", f"    out: [number]{more}"),
    )
    return compile_plan(text).steps[0].needs.gpus


@pytest.mark.parametrize(
    ("cuda", "needs"),
    [
        ("", GpuNeeds()),
        ("cudaVersionMin: '11.4'", GpuNeeds(cuda="11.4")),
        ("cudaComputeCapability: '8.0'", GpuNeeds(capability="8.0")),
        ("cudaComputeCapability: ['7.5', '8.0']", GpuNeeds(capabilities=["7.5", "8.0"])),
        ("cudaDeviceCountMin: 2", GpuNeeds(least=2, most=2)),
        ("cudaDeviceCountMax: 3", GpuNeeds(least=1, most=3)),
        ("cudaDeviceCountMin: 2, cudaDeviceCountMax: 4", GpuNeeds(least=2, most=4)),
        ("cudaDeviceCountMin: $(inputs.n)", GpuNeeds()),
    ],
)
def test_cuda_requirement_fields_become_the_gpu_request(cuda: str, needs: GpuNeeds) -> None:
    assert compile_gpu_needs(cuda) == needs


def test_step_requests_a_share_of_a_gpu() -> None:
    share = "\n    sluice:gpu: {share: 0.25, memory: 4096}"
    both = GpuNeeds(share=0.25, memory=4096, capability="8.0")
    assert compile_gpu_needs("cudaComputeCapability: '8.0'", share) == both
    plan = compile_plan(edit_text(("    out: [number]", f"    out: [number]{share}")))
    assert plan.steps[0].needs.gpus == GpuNeeds(share=0.25, memory=4096)
    assert plan.steps[0].needs.device_type is DeviceType.GPU


def test_gpu_requests_of_tools_in_one_job_are_combined() -> None:
    text = (Path(__file__).parents[3] / "differential" / "templates" / "nested.cwl").read_text()
    first, second = (
        f"ToolTimeLimit: {{timelimit: {seconds}}}, cwltool:CUDARequirement: {{{cuda}}}"
        for seconds, cuda in (
            (60, "cudaComputeCapability: ['7.5', '8.0'], cudaVersionMin: '12.10'"),
            (30, "cudaDeviceCountMin: 2, cudaComputeCapability: ['8.0'], cudaVersionMin: '12.9'"),
        )
    )
    text = edit_text(
        (
            "{LC_ALL: C}}, ToolTimeLimit: {timelimit: 60}",
            f"{{LC_ALL: C}}}}, {second}",
        ),
        text=text,
    ).replace("ToolTimeLimit: {timelimit: 60}", first, 1)
    namespaces = '$namespaces: {cwltool: "http://commonwl.org/cwltool#"}'
    text = text.replace("cwlVersion: v1.2\n", f"cwlVersion: v1.2\n{namespaces}\n", 1)
    [clean] = compile_plan(text).steps
    assert clean.needs.gpus == GpuNeeds(least=2, most=2, capabilities=["8.0"], cuda="12.10")


@pytest.mark.parametrize("kind", ["requirements", "hints"])
def test_docker_requirement_names_the_images_of_a_step(kind: str) -> None:
    docker = (
        "DockerRequirement: {dockerPull: 'registry.example:5000/lab/sort:1.2', dockerImageId:"
        " 'sort:1'}"
    )
    if kind == "requirements":
        text = edit_text(
            ("  ScatterFeatureRequirement: {}", f"  ScatterFeatureRequirement: {{}}\n  {docker}")
        )
    else:
        text = edit_text(("doc: Counts", f"hints: {{{docker}}}\ndoc: Counts"))
    for step in compile_plan(text).steps:
        assert step.needs.container == Container(
            images=[ContainerImage(name="sort:1", pull="registry.example:5000/lab/sort:1.2")],
            required=kind == "requirements",
        )
        assert "DockerRequirement" in {requirement["class"] for requirement in step.tool[kind]}


def test_step_without_docker_requirement_needs_no_container() -> None:
    assert [step.needs.container for step in compile_plan(edit_text()).steps] == [None, None]


def test_formats_are_removed_from_inputs_and_expanded_in_outputs() -> None:
    text = edit_text(
        ("$namespaces:\n", "$namespaces:\n  edam: http://edamontology.org/\n"),
        ("frame: {type: File, inp", "frame: {type: File, format: edam:format_1929, inp"),
        (
            "number: stdout",
            "number: {type: File, format: edam:format_1929, outputBinding: {glob: x}}",
        ),
        (
            "        note: string?",
            (
                "        note: {type: [string, 'null', {type: record, fields: {f: {type: File,"
                " format: x}}}]}"
            ),
        ),
    )
    count, join = (step.tool for step in compile_plan(text).steps)
    assert count["inputs"]["frame"] == {"type": "File", "inputBinding": {"position": 2}}
    assert count["outputs"]["number"]["format"] == "http://edamontology.org/format_1929"
    assert join["inputs"]["note"]["type"][2] == {
        "type": "record",
        "fields": {"f": {"type": "File"}},
    }


@pytest.mark.parametrize("version", ["v1.0", "v1.1", "v1.2"])
def test_tool_keeps_the_cwl_version(version: str) -> None:
    text = edit_text(("v1.2", version))
    if version == "v1.0":
        text = text.replace("requirements:\n        ToolTimeLimit", "hints:\n        ToolTimeLimit")
    assert compile_plan(text).steps[0].tool["cwlVersion"] == version


def test_packed_graph_document_compiles() -> None:
    text = json.dumps(
        {
            "cwlVersion": "v1.2",
            "$graph": [
                {
                    "class": "CommandLineTool",
                    "id": "#copy.cwl",
                    "baseCommand": "cat",
                    "inputs": [{"id": "#copy.cwl/file", "type": "File", "inputBinding": {}}],
                    "outputs": [
                        {"id": "#copy.cwl/copied", "type": "File", "outputBinding": {"glob": "x"}}
                    ],
                },
                {
                    "class": "Workflow",
                    "id": "#main",
                    "requirements": [{"class": "ScatterFeatureRequirement"}],
                    "inputs": [{"id": "#main/files", "type": {"type": "array", "items": "File"}}],
                    "outputs": [
                        {
                            "id": "#main/copies",
                            "type": {"type": "array", "items": "File"},
                            "outputSource": "#main/copy/copied",
                        }
                    ],
                    "steps": [
                        {
                            "id": "#main/copy",
                            "run": "#copy.cwl",
                            "scatter": "#main/copy/file",
                            "in": [{"id": "#main/copy/file", "source": "#main/files"}],
                            "out": ["#main/copy/copied"],
                        }
                    ],
                },
            ],
        },
        indent=1,
    )
    plan = compile_plan(text)
    assert plan.data_input == "files"
    assert plan.steps[0].main_input.source == Source(step=None, port="files")
    assert plan.steps[0].tool["inputs"] == [{"id": "file", "type": "File", "inputBinding": {}}]
