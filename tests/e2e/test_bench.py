"""Small benchmarks run to their end."""

from collections.abc import Callable

import pytest

from bench.latency import bench_latency
from bench.maps import bench_maps
from bench.result import BenchResult
from bench.size import bench_size


@pytest.mark.long("a person who runs the benchmarks sees whether they work")
@pytest.mark.parametrize(
    "measure",
    [
        lambda: bench_latency(rounds=1),
        lambda: bench_maps(files=10),
        lambda: bench_size((20, 40)),
    ],
    ids=["latency", "maps", "size"],
)
def test_benchmark_returns_a_positive_value(measure: Callable[[], BenchResult]) -> None:
    result = measure()
    assert result.value > 0
    assert result.ratio is None or result.ratio > 0
