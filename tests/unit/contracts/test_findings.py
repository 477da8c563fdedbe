"""Findings and what they are about."""

import pytest

from sluice.contracts.common.problems import Finding


@pytest.mark.parametrize(
    ("place", "is_sentence", "message"),
    [
        ("", False, "parameter 'cut' must be int"),
        ("", True, "parameter 'cut': must be int"),
        ("a[0]", False, "parameter 'cut': field 'a[0]' must be int"),
    ],
)
def test_finding_about_a_parameter_says_what_is_wrong_where(
    place: str, *, is_sentence: bool, message: str
) -> None:
    finding = Finding.about_parameter("cut", "must be int", place=place, is_sentence=is_sentence)
    assert finding.message == message
    assert Finding.model_validate_json(finding.model_dump_json()) == finding


def test_finding_about_no_parameter_is_written_without_these_fields() -> None:
    assert set(Finding(message="late").model_dump()) == {
        "message",
        "severity",
        "file",
        "line",
        "column",
    }
