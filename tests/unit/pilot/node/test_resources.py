"""What a pilot finds that its node has, and what it offers of that."""

import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from pilot.node.resources import Told, detect, most_slots, offered
from sluice.contracts.pilots import NodeResources

MIB = 1 << 20


def system(root: Path, group: str, **limits: tuple[str, str]) -> Path:
    """Files as the kernel shows them: ``limits``: of a control group (``top`` or a name), cores and
    memory."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(f"1:name=systemd:/elsewhere\n0::{group}\n")
    for name, (cores, memory) in limits.items():
        folder = root / "sys/fs/cgroup" / ("" if name == "top" else name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.max").write_text(cores + "\n")
        (folder / "memory.max").write_text(memory + "\n")
    return root


def test_without_limits_all_that_the_machine_has(tmp_path: Path) -> None:
    for root in (tmp_path / "none", system(tmp_path / "max", "/", top=("max 100000", "max"))):
        node = detect(tmp_path, root=root)
        assert node.cores == len(os.sched_getaffinity(0))
        assert node.ram == psutil.virtual_memory().total // MIB


def test_the_tightest_limit_of_the_groups_counts(tmp_path: Path) -> None:
    root = system(
        tmp_path,
        "/job/step",
        job=("100000 100000", str(300 * MIB)),
        **{"job/step": ("max 100000", str(200 * MIB))},
    )
    node = detect(tmp_path, root=root)
    assert (node.cores, node.ram) == (1, 200)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, {}),
        ({"cores": 9}, {"cores": 9}),
        ({"cores": 0.5, "memory": 500}, {"cores": 0.5, "ram": 500}),
        ({"disk": 700}, {"disk": 700}),
        ({"named": {"licence": 2.5}}, {"named": {"licence": 2.5}}),
        ({"labels": {"site": "prague"}}, {"labels": {"site": "prague"}}),
    ],
)
def test_what_is_offered(told: dict[str, Any], expected: dict[str, Any]) -> None:
    node = NodeResources(cores=4, ram=1000, disk=1)
    assert offered(node, Told(**told)) == node.model_copy(update=expected)


@pytest.mark.parametrize(("cores", "slots"), [(0.5, 16), (2, 20), (6.25, 63), (1000, 4096)])
def test_there_may_be_slots_for_jobs_of_a_tenth_of_a_core(cores: float, slots: int) -> None:
    assert most_slots(cores) == slots
