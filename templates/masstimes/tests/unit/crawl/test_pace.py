"""The throttle of the crawler: delays for latencies and statuses."""

import pytest
from masstimes.crawl.pace import Pace
from masstimes.crawl.pacing import ScaledPace, Throttle
from masstimes.small_web.check_delays import find_early_requests
from scrapy import Spider
from scrapy.core.downloader import Slot
from scrapy.http import Response
from scrapy.utils.test import get_crawler


@pytest.mark.parametrize(
    ("delay", "latency", "status", "new"),
    [
        (5.0, 1.0, 200, 3.0),
        (3.0, 1.0, 200, 2.0),
        (2.0, 1.0, 206, 1.5),
        (5.0, 0.0, 200, 2.5),
        (5.0, 5.0, 200, 5.0),
        (1.0, 9.0, 200, 5.0),  # the mean applies to slow sites, too
        (5.0, 1.0, 404, 5.0),
        (5.0, 1.0, 301, 5.0),
        (5.0, 1.0, 304, 5.0),
        (5.0, 1.0, 503, 5.0),
        (5.0, 7.0, 503, 5.0),  # errors do not lengthen the delay
        (5.0, 7.0, 302, 5.0),
        (300.0, 900.0, 200, 300.0),
        (0.0, 0.0, 200, 0.0),
    ],
)
def test_delay_moves_half_way_to_the_latency(
    delay: float, latency: float, status: int, new: float
) -> None:
    assert Pace().next_delay(delay, latency, status) == new


@pytest.mark.parametrize(
    ("pace", "new"),
    [
        (Pace(concurrency=2.0), 3.0),
        (Pace(min_delay=3.8), 3.8),
        (Pace(max_delay=2.0), 2.0),
    ],
)
def test_parameters_of_the_pace_are_respected(pace: Pace, new: float) -> None:
    assert pace.next_delay(5.0, 2.0, 200) == new


def test_delay_starts_at_five_seconds_and_approaches_the_latency() -> None:
    pace = Pace()
    delays = [pace.first]
    for _ in range(5):
        delays.append(pace.next_delay(delays[-1], 1.0, 200))
    assert delays == [5.0, 3.0, 2.0, 1.5, 1.25, 1.125]


def make_request(
    start: float, end: float, *, status: int = 200, whole: bool = True
) -> dict[str, object]:
    return {
        "host": "127.1.0.1",
        "path": f"/{start}",
        "start": start,
        "answered": end if status else 0.0,
        "end": end,
        "status": status,
        "whole": whole,
    }


@pytest.mark.parametrize(
    ("second", "early_count"),
    [
        (make_request(3.5, 4.5), 0),  # 3 s after an answer that took 1 s
        (make_request(3.4, 4.5), 1),
        (make_request(0.4, 0.9), 1),
    ],
)
def test_request_log_shows_requests_that_came_too_early(
    second: dict[str, object], early_count: int
) -> None:
    first = make_request(-0.5, 0.5)
    assert len(list(find_early_requests([first, second], delays=1.0))) == early_count


def test_request_log_shows_requests_too_early_after_an_error() -> None:
    log = [make_request(0, 1, status=503), make_request(5.9, 6)]
    assert len(list(find_early_requests(log, delays=1.0))) == 1
    assert list(find_early_requests(log, delays=0.9)) == []


@pytest.mark.parametrize(("whole", "early_count"), [(True, 1), (False, 0)])
def test_only_an_answer_that_was_read_whole_lengthens_the_required_delay(
    whole: bool, early_count: int
) -> None:
    log = [
        make_request(0, 9, whole=whole),
        make_request(14.5, 15),
    ]  # 7 s after a whole answer, else 5 s
    assert len(list(find_early_requests(log, delays=1.0))) == early_count


@pytest.mark.parametrize(
    ("status", "retry_after", "delay"),
    [
        (429, "40", 40.0),
        (503, "40", 40.0),
        (429, "1", 5.0),
        (429, "1000000000", 300.0),
        (429, "-7", 5.0),
        (429, "nan", 5.0),
        (404, "40", 5.0),
    ],
)
def test_retry_after_applies_only_to_the_next_request(
    status: int, retry_after: str, delay: float
) -> None:
    crawler = get_crawler(Spider, {"AUTOTHROTTLE_ENABLED": True, "PACE": ScaledPace(Pace(), 1.0)})
    throttle = Throttle(crawler)
    slot = Slot(concurrency=1, delay=5.0)
    url = "http://parafia.pl/"
    throttle._adjust_delay(slot, 1.0, Response(url, status, {"Retry-After": retry_after}))
    assert slot.delay == delay
    throttle._adjust_delay(slot, 1.0, Response(url, 404))
    assert slot.delay == 5.0
