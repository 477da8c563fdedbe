"""The page of storages: use, marks, and why a storage gets no new data."""

import re
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage, Watermarks
from tests.integration.operator.conftest import Operator
from wfms.operator.web.domain.storage_lines import StorageLine

URL = "file:///data/<in>"


def make_storage(name: str = "input-1", **more: Any) -> Storage:
    fields = {
        "type": StorageType.INPUT,
        "url": URL,
        "enabled": True,
        "used": 0,
        "free": 700,
        "datasets": 1204,
    } | more
    return Storage(id=uuid4(), name=name, **fields)


async def list_rows(operator: Operator) -> list[str]:
    """Return the rows of the table without tags."""
    page = (await operator.http.get("/storages")).text
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in body.split("</tr>")[:-1]]


async def test_every_storage_is_listed_with_its_use(operator: Operator) -> None:
    operator.neighbours.storages = [
        make_storage(used=300),
        make_storage(
            "bucket", url="s3://b/in", used=2_000_000, free=None, datasets=0, read_only=True
        ),
        make_storage(
            "small", capacity=1000, used=500, free=500, marks=Watermarks(low=0.6, high=900)
        ),
        make_storage("old", enabled=False),
    ]
    assert await list_rows(operator) == [
        "input-1 file:///data/&lt;in&gt; input enabled 1 204 300 B 30 % of 1.0 kB 700 B –",
        "bucket s3://b/in input read-only enabled 0 2.0 MB no limit –",
        (
            "small file:///data/&lt;in&gt; input enabled 1 204 500 B 50 % of 1.0 kB 500 B 60 % to"
            " 900 B"
        ),
        "old file:///data/&lt;in&gt; input disabled 1 204 0 B 0 % of 700 B 700 B –",
    ]


async def test_storage_shows_its_warning_and_its_watermark_state(operator: Operator) -> None:
    operator.neighbours.storages = [
        make_storage(warning="its folder is not there: is its file system mounted?"),
        make_storage(
            "full",
            used=900,
            free=100,
            marks=Watermarks(low=0.6, high=0.8),
            filling_since=datetime.now(UTC),
        ),
    ]
    first, reason, second, note = await list_rows(operator)
    assert " refused " in first
    assert reason == "Gets no new data sets: its folder is not there: is its file system mounted?"
    assert second.endswith("60 % to 80 % filling")
    assert (
        note == "Fills faster than it is worked off, since just now : tasks whose chains free space"
        " there are ranked higher."
    )


async def test_storage_of_a_dms_of_the_previous_release_is_shown_without_details(
    operator: Operator,
) -> None:
    operator.neighbours.storages = [make_storage(free=None, datasets=None)]
    assert await list_rows(operator) == [
        "input-1 file:///data/&lt;in&gt; input enabled – 0 B not known –"
    ]


async def test_storages_page_is_in_the_navigation_and_tells_how_to_begin(
    operator: Operator,
) -> None:
    assert 'href="/storages"' in (await operator.http.get("/")).text
    page = (await operator.http.get("/storages")).text
    assert "sluice storage init" in page
    assert 'href="/storages" aria-current="page"' in page


@pytest.mark.parametrize(
    ("more", "share", "places"),
    [
        ({"capacity": 1000, "used": 250}, 25, [50, 80]),
        ({"used": 300, "free": 700}, 30, [50, 80]),
        ({"capacity": 1000, "used": 2000}, 100, [50, 80]),
        ({"capacity": 1000, "marks": Watermarks(low=100, high=2000)}, 0, [10, 100]),
        ({"free": None, "marks": Watermarks(low=100, high=200)}, None, [None, None]),
        ({"free": 0}, None, [50, 80]),
    ],
)
def test_use_and_watermarks_are_drawn_on_one_scale(
    more: dict[str, Any], share: float | None, places: list[float | None]
) -> None:
    line = StorageLine(make_storage(**({"marks": Watermarks(low=0.5, high=0.8)} | more)))
    assert (line.share, [place for _, place in line.marks]) == (share, places)
