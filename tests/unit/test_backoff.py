"""Growing pauses between attempts."""

import pytest

from sluice.scheduling.backoff import pause_after


def test_pauses_double_up_to_the_longest_pause() -> None:
    pauses = [pause_after(failures, first=1, max_pause=5) for failures in (1, 2, 3, 4, 10_000)]
    assert pauses == [1, 2, 4, 5, 5]


def test_pauses_grow_by_the_given_factor() -> None:
    pauses = [pause_after(looks, first=1, max_pause=2, factor=1.5) for looks in (1, 2, 3, 10_000)]
    assert pauses == [1, 1.5, 2, 2]


@pytest.mark.parametrize("failures", [1, 2, 10_000])
def test_zero_first_pause_means_no_pauses(failures: int) -> None:
    assert pause_after(failures, first=0, max_pause=30) == 0
