"""Parameters as they are typed, before anything is copied for them."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from sluice.cli.parameters import given_params, key_values
from sluice.contracts.chain_requirements import DatasetFacts
from sluice.contracts.plan import Parameter
from sluice.contracts.problems import Unprocessable
from tests.unit.wfms.chains.plans import plan, step

WORKFLOW = plan(
    step("only"),
    outputs=[("only", "out")],
    bind={"run": "number"},
    parameters={
        "run": Parameter(type="int", required=True),
        "label": Parameter(type=["null", "string"]),
        "gain": Parameter(type="float", default=1.5),
        "ref": Parameter(type="File", required=True),
    },
)
FILES = {"ref": [Path("ref.txt")]}


def fitting(*texts: str, facts: dict[str, Any] | None = None) -> dict[str, Any]:
    return given_params(texts).fitting(
        WORKFLOW, DatasetFacts(facts or {"number": 7}, files=1, bytes=1), files=FILES
    )


def test_what_is_typed_is_what_the_workflow_takes() -> None:
    assert fitting("gain=2", "ref=ref.txt") == {"gain": 2, "ref": "ref.txt"}
    assert fitting("label=2024") == {"label": "2024"}, "a text, though it could be read as a number"
    assert fitting("label=null") == {"label": None}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "gian=2",
            "parameter 'gian' is unknown (did you mean 'gain'?); the workflow has gain (float),"
            " label (null or string), ref (File, has to be given), run (int, has to be given)",
        ),
        ("gain=big", "parameter 'gain' must be float, not 'big'"),
        ("run=null", "parameter 'run' (int) is required and has no value"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(text: str, reason: str) -> None:
    with pytest.raises(Unprocessable) as refusal:
        fitting(text)
    assert [finding.message for finding in refusal.value.findings] == [reason]


def test_a_value_that_the_metadata_does_not_give_is_missed() -> None:
    with pytest.raises(Unprocessable) as refusal:
        fitting(facts={"number_of": 7})
    assert "'run' (int) is required" in refusal.value.findings[0].message


@pytest.mark.parametrize("text", ["1e999", "-1e999", "NaN", "Infinity", '{"a": [NaN]}'])
def test_a_number_that_json_does_not_know_is_refused(text: str) -> None:
    """It would be stored as null."""
    with pytest.raises(typer.BadParameter, match="'z': JSON has no number such as"):
        key_values([f"z={text}"], option="--meta")
    with pytest.raises(Unprocessable) as refusal:
        fitting(f"gain={text}")
    assert "parameter 'gain': JSON has no number such as" in refusal.value.findings[0].message
    assert fitting(f"label={text}", "gain=1e308") == {"label": text, "gain": 1e308}, (
        "where a text is wanted, it is one"
    )
    assert key_values([f"z={json.dumps(text)}"], option="--meta") == {"z": text}


@pytest.mark.parametrize("texts", [["gain"], ["=1"], ["gain=1", "gain=2"]])
def test_what_is_no_pair_is_refused(texts: list[str]) -> None:
    with pytest.raises(typer.BadParameter):
        given_params(texts)
