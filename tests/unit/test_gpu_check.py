"""The check of GPUs, as far as a machine without a GPU can test it."""

import json

import pytest

from scripts import gpu_check
from sluice.contracts.jobs.gpus import GpuNeeds
from sluice.cwl.compiler import compile_template


def test_check_without_gpu_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu_check, "find_gpus", list)
    assert gpu_check.main() == 2
    assert "no NVIDIA GPU on this machine" in capsys.readouterr().out


@pytest.mark.parametrize("program", [gpu_check.LOOK, gpu_check.FILL], ids=["look", "fill"])
def test_workflow_of_the_check_requests_a_gpu(program: str) -> None:
    compile(program, "program", "exec")
    text = gpu_check.WORKFLOW.format(program=json.dumps(program), share=0.5)
    plan = compile_template(text, name="look").plan
    assert plan is not None
    needs = plan.steps[0].needs.gpus
    assert needs is not None
    assert needs == GpuNeeds(share=0.5, cuda="1.0", capability="1.0")
