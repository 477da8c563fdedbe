"""Tests that a job sees only the GPUs that are allocated to it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pilot.isolation.sandbox.sandbox import list_gpu_devices
from sluice.contracts.common.states import DeviceType, ErrorClass
from sluice.contracts.pilots.reports import AttemptReport
from tests.unit.pilot.attempts import make_python_tool
from tests.unit.pilot.builders import make_job, make_task, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner

_TELL = """
import json, os
print(json.dumps(os.environ.get("CUDA_VISIBLE_DEVICES")))
"""
_TOOL = make_python_tool(_TELL)


@pytest.fixture(scope="module", params=["open", "sandbox"])
def slot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Runner]:
    contained = request.param == "sandbox"
    isolation = {"sandbox": get_sandbox()} if contained else {"no_sandbox": "a test"}
    gpus = {"GPU-a": "/dev/nvidia7", "GPU-b": "/dev/nvidia8"}
    runner = Runner(tmp_path_factory.mktemp("slot"), settings={**isolation, "gpus": gpus})
    yield runner
    runner.close()


def read_output_json(report: AttemptReport) -> object:
    assert report.message == ""
    [output] = report.outputs
    return json.loads(Path(output.url.removeprefix("file://")).read_text())


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
@pytest.mark.parametrize("gpus", [[], ["GPU-b"], ["GPU-a", "GPU-b"]])
def test_environment_names_the_gpus_of_the_job(
    slot: Runner, tmp_path: Path, gpus: list[str], *, inside: bool
) -> None:
    root = tmp_path / "data"
    kind = make_task(root, wrap_in_workflow(_TOOL) if inside else _TOOL)
    report = slot.attempt(kind, make_job(kind, [write_input(root / "a.dat")]), gpus=gpus)
    assert read_output_json(report) == ",".join(gpus)


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
def test_runtime_has_the_number_of_gpus_of_the_job(
    slot: Runner, tmp_path: Path, *, inside: bool
) -> None:
    cuda = {"class": "cwltool:CUDARequirement", "cudaVersionMin": "1", "cudaComputeCapability": "1"}
    counting = _TOOL | {
        "arguments": ["import sys; print(sys.argv[1])", "$(runtime.cudaDeviceCount)"],
        "requirements": [{"class": "InlineJavascriptRequirement"}],
        "hints": [cuda],
    }
    named = {"$namespaces": {"cwltool": "http://commonwl.org/cwltool#"}}
    root = tmp_path / "data"
    kind = make_task(root, (wrap_in_workflow(counting) if inside else counting) | named)
    report = slot.attempt(
        kind, make_job(kind, [write_input(root / "a.dat")]), gpus=["GPU-a", "GPU-b"]
    )
    assert read_output_json(report) == 2


def test_environment_names_no_gpus_on_a_node_without_gpus(tmp_path: Path) -> None:
    runner = Runner(tmp_path / "pilot", environment={"CUDA_VISIBLE_DEVICES": "0"})
    root = tmp_path / "data"
    try:
        kind = make_task(root, _TOOL)
        assert (
            read_output_json(runner.attempt(kind, make_job(kind, [write_input(root / "a.dat")])))
            is None
        )
    finally:
        runner.close()


def test_job_gets_the_device_files_of_its_gpus_and_of_the_driver(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = ("nvidia0", "nvidia1", "nvidia10", "nvidiactl", "nvidia-uvm", "tty")
    for name in names:
        (tmp_path / name).touch()
    monkeypatch.setattr("pilot.isolation.sandbox.sandbox._GPUS", (f"{tmp_path}/nvidia*",))
    monkeypatch.setattr(
        "pilot.isolation.sandbox.sandbox._ONE_GPU",
        re.compile(rf"{re.escape(str(tmp_path))}/nvidia\d+"),
    )
    device_names = [Path(path).name for path in list_gpu_devices([f"{tmp_path}/nvidia1"])]
    assert device_names == ["nvidia-uvm", "nvidia1", "nvidiactl"]
    assert list_gpu_devices([]) == ()


@pytest.mark.parametrize(
    "message",
    [
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        "RuntimeError: CUDA error: out of memory",
        "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY",
    ],
)
@pytest.mark.parametrize("on_gpu", [True, False])
def test_full_gpu_memory_is_classified_as_out_of_memory(
    slot: Runner, tmp_path: Path, message: str, *, on_gpu: bool
) -> None:
    root = tmp_path / "data"
    kind = make_task(
        root, make_python_tool(f"import sys; print({message!r}, file=sys.stderr); sys.exit(1)")
    )
    if on_gpu:
        needs = kind.needs.model_copy(update={"device_type": DeviceType.GPU})
        kind = kind.model_copy(update={"needs": needs})
    report = slot.attempt(
        kind, make_job(kind, [write_input(root / "a.dat")]), gpus=["GPU-a"] if on_gpu else []
    )
    assert not on_gpu or report.error_class is ErrorClass.OUT_OF_MEMORY
    assert ("its GPU had no memory left" in report.message) is on_gpu
