"""Tests of how a pilot finds the GPUs of its node."""

import os

import pynvml
import pytest

from pilot.node.gpus import NodeGpu, find_gpus
from sluice.contracts.jobs.gpus import Gpu
from tests.unit.pilot.node.nvml import Device, Nvml

_A2 = Gpu(
    uuid="GPU-a",
    name="NVIDIA A2",
    memory=15_356,
    capability="8.6",
    driver="550.54.15",
    cuda="12.4",
)
_TWO = (Device("GPU-a"), Device("GPU-b", minor=3, can_be_divided=True))


def list_uuids(nvml: Nvml, **environment: str) -> list[str]:
    gpu_uuids = [each.gpu.uuid for each in find_gpus(environment, nvml)]
    assert nvml.open == 0
    return gpu_uuids


def test_each_gpu_is_described() -> None:
    gpus = find_gpus({}, Nvml(_TWO))
    assert gpus[0] == NodeGpu(_A2, "/dev/nvidia0")
    assert (gpus[1].gpu.uuid, gpus[1].path) == ("GPU-b", "/dev/nvidia3")


def test_node_without_a_driver_has_no_gpus() -> None:
    assert list_uuids(Nvml(_TWO, driver="")) == []


def test_divided_gpu_counts_as_its_mig_instances() -> None:
    parts = {0: Device("MIG-1", "H100 MIG 3g.40gb", 40_000), 4: Device("MIG-2", memory=10_000)}
    whole = Device("GPU-h", capability=(9, 0), minor=1, instances=parts)
    gpus = find_gpus({}, Nvml([Device("GPU-a"), whole]))
    assert [(each.gpu.uuid, each.gpu.memory, each.gpu.capability, each.path) for each in gpus] == [
        ("GPU-a", 15_356, "8.6", "/dev/nvidia0"),
        ("MIG-1", 40_000, "9.0", "/dev/nvidia1"),
        ("MIG-2", 10_000, "9.0", "/dev/nvidia1"),
    ]


def test_broken_gpu_does_not_hide_the_others() -> None:
    assert list_uuids(Nvml([Device("GPU-x", broken=True), *_TWO])) == ["GPU-a", "GPU-b"]


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        ("0,1", ["GPU-a", "GPU-b"]),
        ("1", ["GPU-b"]),
        ("GPU-a", ["GPU-a"]),
        ("GPU-", ["GPU-a", "GPU-b"]),
        (" 0 , GPU-b ", ["GPU-a", "GPU-b"]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
        ("7", []),
    ],
)
def test_cuda_visible_devices_selects_the_gpus_of_the_pilot(
    visible: str, expected: list[str]
) -> None:
    assert list_uuids(Nvml(_TWO), CUDA_VISIBLE_DEVICES=visible) == expected


def test_fake_nvml_has_only_names_of_the_real_package() -> None:
    """The real package has the same hierarchy of errors, too."""
    for name in (name for name in dir(Nvml()) if name.lower().startswith("nvml")):
        assert hasattr(pynvml, name), name
    assert issubclass(pynvml.NVMLError_NotSupported, pynvml.NVMLError)
    assert issubclass(pynvml.NVMLError_NotFound, pynvml.NVMLError)


def test_gpus_of_this_node_have_all_fields() -> None:
    gpus = find_gpus({})
    assert (gpus != []) == os.path.exists("/dev/nvidia0")
    for each in gpus:
        assert each.gpu.uuid[:4] in {"GPU-", "MIG-"}
        assert os.path.exists(each.path)
        assert each.gpu.memory > 0
        assert each.gpu.name
        assert each.gpu.capability
        assert each.gpu.cuda
        assert each.gpu.driver
