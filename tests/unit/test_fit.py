"""Allocation of free capacity to jobs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.jobs.gpus import Gpu, GpuNeeds, version_key
from sluice.scheduling.fit import (
    BOUNDLESS,
    Allocation,
    GpuPart,
    ResourceRequest,
    count_fitting,
    find_allocation,
    find_gpu_misfit,
    is_suitable,
    list_fitting,
)
from tests.unit.gpus import make_gpu, make_node

SMALL, LARGE = make_gpu("GPU-s", memory=8_000), make_gpu("GPU-l", memory=80_000, capability="9.0")
OFFER = make_node(8, 1000, LARGE, SMALL)
NODE, DEVICES = OFFER.amounts, OFFER.devices


def get_gpus(allocation: Allocation | None) -> dict[str, GpuPart] | None:
    return None if allocation is None else dict(allocation.gpus)


def make_request(
    needs: GpuNeeds | None = None, *, cores: float = 1, ram: float = 10
) -> ResourceRequest:
    return ResourceRequest(cores, ram, needs)


def test_job_is_allocated_exactly_its_request() -> None:
    assert find_allocation(NODE, make_request(cores=8, ram=1000), DEVICES) == Allocation(8, 1000)
    assert find_allocation(NODE, make_request(cores=8.1), DEVICES) is None
    assert find_allocation(NODE, make_request(ram=1001), DEVICES) is None
    assert find_allocation(BOUNDLESS.amounts, make_request(GpuNeeds()), {}) == Allocation(1, 10)


def test_tenths_of_a_core_add_up() -> None:
    free = Allocation(1.0, 100)
    for _ in range(10):
        taken = find_allocation(free, make_request(cores=0.1, ram=0), {})
        assert taken is not None
        free -= taken
    assert find_allocation(free, make_request(cores=0.1, ram=0), {}) is None


def test_disk_and_named_resources_are_allocated_and_released() -> None:
    offer = make_node(8, 1000, disk=500, named={"licence": 1, "x": 1})
    job = ResourceRequest(1, 10, None, 200, {"licence": 0.4})
    first = find_allocation(offer.amounts, job, {})
    assert first == Allocation(1, 10, {}, 200, {"licence": 0.4})
    left = offer.amounts - first
    second = find_allocation(left, job, {})
    assert second is not None
    assert find_allocation(left - second, job, {}) is None, "disk and licences are used up"
    assert find_allocation(left, replace(job, disk=301), {}) is None
    assert find_allocation(left, replace(job, named={"none": 0.1}), {}) is None
    assert count_fitting(offer.amounts, job, {}, maximum=9) == 2
    assert count_fitting(offer.amounts, replace(job, disk=0), {}, maximum=9) == 2
    assert (left - second + first + second).contains(offer.amounts)


def test_smallest_suitable_gpu_is_chosen() -> None:
    assert get_gpus(find_allocation(NODE, make_request(GpuNeeds()), DEVICES)) == {
        "GPU-s": GpuPart(1, 8_000)
    }
    assert get_gpus(find_allocation(NODE, make_request(GpuNeeds(capability="9")), DEVICES)) == {
        "GPU-l": GpuPart(1, 80_000)
    }


def test_range_of_gpus_takes_as_many_as_exist() -> None:
    several = GpuNeeds(least=1, most=4)
    assert set(get_gpus(find_allocation(NODE, make_request(several), DEVICES)) or ()) == {
        "GPU-s",
        "GPU-l",
    }
    assert find_allocation(NODE, make_request(GpuNeeds(least=3, most=4)), DEVICES) is None


def test_shares_are_placed_on_the_same_gpu() -> None:
    """The other GPU stays free for a job that needs a whole one."""
    quarter = make_request(GpuNeeds(share=0.25))
    first = find_allocation(NODE, quarter, DEVICES)
    assert get_gpus(first) == {"GPU-s": GpuPart(0.25, 2_000)}
    assert first is not None
    second = find_allocation(NODE - first, quarter, DEVICES)
    assert get_gpus(second) == {"GPU-s": GpuPart(0.25, 2_000)}
    assert get_gpus(find_allocation(NODE - first, make_request(GpuNeeds()), DEVICES)) == {
        "GPU-l": GpuPart(1, 80_000)
    }


def test_share_may_request_gpu_memory() -> None:
    needs = make_request(GpuNeeds(share=0.1, memory=6_000))
    taken = find_allocation(NODE, needs, DEVICES)
    assert get_gpus(taken) == {"GPU-s": GpuPart(0.1, 6_000)}
    assert taken is not None
    assert set(get_gpus(find_allocation(NODE - taken, needs, DEVICES)) or ()) == {"GPU-l"}


@pytest.mark.parametrize(
    ("needs", "devices", "why"),
    [
        (GpuNeeds(), [], "needs a GPU, the node has none"),
        (GpuNeeds(least=2, most=2), [SMALL], "needs 2 GPUs, the node has 1"),
        (GpuNeeds(share=0.5), [], "needs 0.5 of a GPU, the node has none"),
        (
            GpuNeeds(memory=40_000),
            [SMALL, SMALL],
            "needs a GPU with 40000 MiB of memory, the node has 8000",
        ),
        (
            GpuNeeds(capability="9.0"),
            [SMALL],
            "needs a GPU with compute capability 9.0 or higher, the node has 8.6",
        ),
        (
            GpuNeeds(capabilities=["7.5", "8.0"]),
            [SMALL, LARGE],
            "needs a GPU with compute capability 7.5 or 8.0, the node has 8.6, 9.0",
        ),
        (
            GpuNeeds(cuda="13"),
            [SMALL],
            "needs a GPU with a driver for CUDA 13, the node has 12.4",
        ),
        (
            GpuNeeds(least=2, most=2, memory=10_000),
            [SMALL, LARGE],
            "needs 2 GPUs with 10000 MiB of memory, the node has 8000, 80000",
        ),
        (GpuNeeds(least=2, most=2, cuda="12.4"), [SMALL, LARGE], None),
    ],
)
def test_reason_names_the_unsuitable_devices(
    needs: GpuNeeds, devices: list[Gpu], why: str | None
) -> None:
    misfit = find_gpu_misfit(devices, needs)
    assert (misfit and str(misfit)) == why


def test_gpu_without_known_properties_suits_all_requests() -> None:
    unknown = Gpu(uuid="0", name="A2")
    assert is_suitable(unknown, GpuNeeds(memory=10**6, capability="99", cuda="99"))


@pytest.mark.parametrize(
    ("less", "more"), [("8.6", "9"), ("12.9", "12.10"), ("11", "11.0.1"), ("0.1", "1")]
)
def test_versions_are_compared_numerically(less: str, more: str) -> None:
    assert version_key(less) < version_key(more)
    assert version_key(less) == version_key(f"{less}.0")


_needs = st.one_of(
    st.none(),
    st.builds(
        GpuNeeds,
        share=st.sampled_from([0.1, 0.25, 0.3, 0.5]),
        memory=st.sampled_from([0, 3_000, 20_000]),
    ),
    st.builds(
        lambda least, more, capability: GpuNeeds(
            least=least, most=least + more, capability=capability
        ),
        st.integers(1, 3),
        st.integers(0, 2),
        st.sampled_from([None, "8.0", "9.0"]),
    ),
)
_requests = st.builds(
    ResourceRequest, st.sampled_from([0.1, 1.0, 2.5]), st.integers(0, 300), _needs
)


@given(st.lists(_requests, max_size=30), st.randoms())
def test_allocations_never_exceed_capacity_and_are_released_completely(
    jobs: list[ResourceRequest], random: object
) -> None:
    free, allocations = NODE, list[Allocation]()
    for job in jobs:
        taken = find_allocation(free, job, DEVICES)
        if taken is None:
            continue
        allocations.append(taken)
        free -= taken
        assert NODE.contains(free)
        assert free.contains(Allocation())
        if job.gpus is not None:
            assert job.gpus.least <= len(taken.gpus) <= job.gpus.most
            assert all(is_suitable(DEVICES[uuid], job.gpus) for uuid in taken.gpus)
    random.shuffle(allocations)  # type: ignore[attr-defined]
    for taken in allocations:
        free += taken
    assert free.cores == pytest.approx(NODE.cores)
    assert free.contains(replace(NODE, cores=free.cores))


@given(st.lists(_requests, max_size=12), st.lists(_requests, max_size=6))
def test_fitting_requests_equal_those_that_fit_alone(
    kinds: list[ResourceRequest], running: list[ResourceRequest]
) -> None:
    free = replace(NODE, named={"licence": 1.5}, disk=500)
    for job in running:
        taken = find_allocation(free, job, DEVICES)
        free = free if taken is None else free - taken
    shared: dict[str, float] = {"licence": 1.0}
    requests = [
        *kinds,
        *(replace(kind, named=shared) for kind in kinds),
        *(replace(kind, named={"licence": 2}, disk=400) for kind in kinds),
        *(replace(kind, disk=501) for kind in kinds),
    ]
    assert list_fitting(free, requests, DEVICES) == [
        place
        for place, kind in enumerate(requests)
        if find_allocation(free, kind, DEVICES) is not None
    ]


@given(_requests, st.integers(0, 40))
def test_number_of_fitting_jobs_equals_repeated_allocation(job: ResourceRequest, most: int) -> None:
    free, number = NODE, 0
    while number < most and (taken := find_allocation(free, job, DEVICES)) is not None:
        free, number = free - taken, number + 1
    assert count_fitting(NODE, job, DEVICES, maximum=most) == number


def test_node_offers_its_devices_with_all_their_memory() -> None:
    assert dict(NODE.gpus) == {"GPU-l": GpuPart(1.0, 80_000), "GPU-s": GpuPart(1.0, 8_000)}
