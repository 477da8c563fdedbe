"""Marks that are just allowed are so, too, once they have been written and read."""

import json
from decimal import Decimal

import pytest
from pydantic import ValidationError

from sluice.contracts.datasets import MOST_MARK, WaterMarks


def test_the_largest_mark_is_within_its_schema_as_written() -> None:
    """Whoever reads numbers exactly sees no larger one than is allowed."""
    written = json.loads(WaterMarks(low=1, high=MOST_MARK).model_dump_json(), parse_float=Decimal)
    schema = json.dumps(WaterMarks.model_json_schema())
    most = json.loads(schema, parse_float=Decimal)["properties"]["high"]["maximum"]
    assert Decimal(written["high"]) <= Decimal(most)
    assert Decimal(most) == int(MOST_MARK)
    with pytest.raises(ValidationError):
        WaterMarks(low=1, high=2**63)
