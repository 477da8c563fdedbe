"""Tests of how a pilot detects the resources of its node and which of them it offers."""

import os
from itertools import chain
from pathlib import Path
from typing import Any

import psutil
import pytest
from pydantic import ValidationError

from pilot.node.resources import DeclaredResources, compute_offer, default_max_slots, detect
from pilot.settings import PilotSettings
from sluice.contracts.pilots.node_parts import NodePart
from sluice.contracts.pilots.nodes import NodeResources

MIB = 1 << 20


def write_kernel_files(root: Path, group: str, **limits: tuple[str, str]) -> Path:
    """Write the files of the kernel. ``limits`` has the cores and the memory of control groups by
    name; ``top`` is the root group."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(f"1:name=systemd:/elsewhere\n0::{group}\n")
    for name, (cores, memory) in limits.items():
        folder = root / "sys/fs/cgroup" / ("" if name == "top" else name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.max").write_text(cores + "\n")
        (folder / "memory.max").write_text(memory + "\n")
    return root


def test_unlimited_node_has_all_cores_and_memory_of_the_machine(tmp_path: Path) -> None:
    for root in (
        tmp_path / "none",
        write_kernel_files(tmp_path / "max", "/", top=("max 100000", "max")),
    ):
        node = detect(tmp_path, root=root)
        assert node.cores == len(os.sched_getaffinity(0))
        assert node.ram == psutil.virtual_memory().total // MIB


def test_tightest_limit_of_nested_control_groups_applies(tmp_path: Path) -> None:
    root = write_kernel_files(
        tmp_path,
        "/job/step",
        job=("100000 100000", str(300 * MIB)),
        **{"job/step": ("max 100000", str(200 * MIB))},
    )
    node = detect(tmp_path, root=root)
    assert (node.cores, node.ram) == (1, 200)


@pytest.mark.parametrize(
    ("declared_fields", "expected"),
    [
        ({}, {}),
        ({"cores": 9}, {"cores": 9}),
        ({"cores": 0.5, "memory": 500}, {"cores": 0.5, "ram": 500}),
        ({"disk": 700}, {"disk": 700}),
        ({"named": {"licence": 2.5}}, {"named": {"licence": 2.5}}),
        ({"labels": {"site": "prague"}}, {"labels": {"site": "prague"}}),
    ],
)
def test_declared_resources_override_detected_resources(
    declared_fields: dict[str, Any], expected: dict[str, Any]
) -> None:
    node = NodeResources(cores=4, ram=1000, disk=1)
    assert compute_offer(node, DeclaredResources(**declared_fields)) == node.model_copy(
        update=expected
    )


PARTS = ("1/3", "2/3", "3/3")


def test_pilots_that_share_a_node_divide_its_resources() -> None:
    node = NodeResources(cores=4, ram=1000, disk=50)
    named = {"licence": 4.0, "scanner": 1.0, "tank": 0.5}
    offers = [compute_offer(node, DeclaredResources(named=named, part=part)) for part in PARTS]
    assert [detected.part for detected in offers] == list(PARTS)
    assert {(detected.cores, detected.ram, detected.disk) for detected in offers} == {
        (1.333, 333, 16)
    }
    assert [detected.named for detected in offers] == [
        {"licence": 2, "scanner": 1, "tank": 0.5},
        {"licence": 1},
        {"licence": 1},
    ], "half a licence is of no use"
    declared_offers = [
        compute_offer(node, DeclaredResources(cores=4, memory=900, disk=40, part=part))
        for part in PARTS
    ]
    assert {(detected.cores, detected.ram, detected.disk) for detected in declared_offers} == {
        (4, 900, 40)
    }, "declared amounts are not divided"


def test_each_gpu_goes_to_exactly_one_of_the_pilots_of_a_node() -> None:
    for gpus in ([], ["a"], ["a", "b", "c", "d"]):
        shares = [NodePart.of(part).things(gpus) for part in PARTS]
        assert sorted(chain.from_iterable(shares)) == gpus
    assert shares == [["a", "d"], ["b"], ["c"]]
    assert NodePart.of(None).things(["a", "b"]) == ["a", "b"]


@pytest.mark.parametrize("part", ["2/1", "0/1", "1", "1/0", "1/1000", "a/b"])
def test_invalid_node_part_is_refused(part: str) -> None:
    with pytest.raises(ValidationError, match="part"):
        PilotSettings(name="p", part=part)


@pytest.mark.parametrize(("cores", "slots"), [(0.5, 16), (2, 20), (6.25, 63), (1000, 4096)])
def test_maximum_number_of_slots_allows_jobs_of_a_tenth_of_a_core(cores: float, slots: int) -> None:
    assert default_max_slots(cores) == slots
