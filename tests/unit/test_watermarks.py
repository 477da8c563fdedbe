"""Bounds of watermarks survive writing and reading."""

import json
from decimal import Decimal

import pytest
from pydantic import ValidationError

from sluice.contracts.data.datasets import MAX_MARK, Watermarks


def test_largest_watermark_is_within_its_schema() -> None:
    """A reader of exact decimals must not see a number above the bound."""
    written = json.loads(Watermarks(low=1, high=MAX_MARK).model_dump_json(), parse_float=Decimal)
    schema = json.dumps(Watermarks.model_json_schema())
    most = json.loads(schema, parse_float=Decimal)["properties"]["high"]["maximum"]
    assert Decimal(written["high"]) <= Decimal(most)
    assert Decimal(most) == int(MAX_MARK)
    with pytest.raises(ValidationError):
        Watermarks(low=1, high=2**63)
