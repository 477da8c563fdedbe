"""Names of the files that jobs write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from sluice.contracts.common import naming
from sluice.contracts.common.base import Name
from sluice.contracts.common.naming import (
    MAX_DATASET_NAME,
    delivered_name,
    fitting_name,
    live_name,
    log_name,
    name_bytes,
    output_name,
    output_name_that_fits,
    own_name,
    written_by_attempt,
)
from sluice.contracts.common.plain_paths import stays_inside

#: Names, many of which contain escapes or parts of paths.
NAMES = st.one_of(
    st.text(min_size=1, max_size=40).filter(lambda text: "/" not in text),
    st.lists(
        st.sampled_from(["=", "%", "25", "2f", "2e", "00", "3A", "5C", ":", "\\", ".", "x"]),
        min_size=1,
        max_size=20,
    ).map("".join),
)


@given(st.integers(0, 10**15), st.integers(1, 999), NAMES)
def test_own_name_of_a_file_is_recovered_from_its_output_name(
    seq: int, attempt: int, own: str
) -> None:
    name = output_name(seq, attempt, own)
    assert own_name(name) == own
    assert written_by_attempt(name)


@given(st.integers(0, 10**15), st.integers(1, 999), NAMES.filter(lambda own: "\0" not in own))
def test_catalogue_accepts_each_output_name(seq: int, attempt: int, own: str) -> None:
    assert stays_inside(output_name(seq, attempt, own))


@given(st.lists(NAMES, min_size=1, max_size=240).map(lambda parts: "".join(parts)[:240]))
def test_long_name_is_shortened_and_stays_unique(stem: str) -> None:
    name = output_name_that_fits(3, 1, stem, ".json")
    assert len(name.encode()) <= 240
    assert written_by_attempt(name)
    whole = naming._build_name(naming.attempt_prefix(3, 1), f"{stem}.json")
    assert (name == whole) == (len(whole.encode()) <= 240)
    assert name != output_name_that_fits(3, 1, f"{stem}x", ".json")


@pytest.mark.parametrize(
    ("own", "written"),
    [
        ("ns::Class.txt", "=ns=3A=3AClass.txt"),
        ("x%2f", "=x=252f"),
        ("x\\..\\a", "=x=5C..=5Ca"),
        ("=3A", "==3D3A"),
        ("a:b 50%=x.txt", "a:b 50%=x.txt"),
    ],
)
def test_only_names_that_resemble_paths_are_escaped(own: str, written: str) -> None:
    assert output_name(3, 1, own) == f"00000003.1-{written}"
    assert own_name(f"00000003.1-{written}") == own


@pytest.mark.parametrize("own", ["=a", "=x=2F..=2Fetc", "=..=2F", "=3A", "=x=3a"])
def test_text_that_only_resembles_an_escape_is_kept(own: str) -> None:
    assert own_name(f"00000003.1-{own}") == own


def test_log_name_belongs_to_its_attempt_and_is_kept() -> None:
    name = log_name(3, 2)
    assert name == "00000003.2.log"
    assert written_by_attempt(name)
    assert own_name(name) == name


@given(st.integers(0, 99), st.integers(1, 9), st.integers(0, 99), st.integers(1, 9), NAMES)
def test_attempts_never_share_an_output_name(
    seq: int, attempt: int, other: int, later: int, own: str
) -> None:
    same = (seq, attempt) == (other, later)
    assert (output_name(seq, attempt, own) == output_name(other, later, own)) == same


@pytest.mark.parametrize(
    "name",
    [
        "0000012.1.log",
        "000000012.1.log",
        "00000012.log",
        "00000012.x.log",
        "x00000012.1-a",
        "00000012.1x",
        "٠٠٠٠٠٠٠٠.1-a",
        "notes",
    ],
)
def test_name_without_a_valid_prefix_belongs_to_no_attempt(name: str) -> None:
    assert not written_by_attempt(name)
    assert own_name(name) == name


def test_live_file_belongs_to_its_attempt() -> None:
    assert live_name(17, 2) == "00000017.2-live.json"
    assert written_by_attempt(live_name(17, 2)), (
        "otherwise no cleanup would remove the file of a killed pilot"
    )


@pytest.mark.parametrize(
    "own",
    [
        "ü" * 122 + ".csv",
        "x" * 251 + ".csv",
        "€" * 85,
        ":" * 251 + ".csv",
        "\udcff" * 251 + ".csv",
        "." + "x" * 254,
    ],
)
def test_output_name_of_the_longest_file_name_fits(own: str) -> None:
    name = output_name(123_456_789, 999, own)
    assert name_bytes(name) <= 240
    assert written_by_attempt(name)
    assert name.endswith(".csv") == own.endswith(".csv")
    assert name != output_name(123_456_789, 999, own[:-5] + "y" + own[-4:])


def test_shortened_name_keeps_its_endings() -> None:
    name = own_name(output_name(3, 1, "scan-" + "0" * 240 + ".nii.gz"))
    assert name.startswith("scan-000")
    assert name.endswith(".nii.gz")


def test_delivered_name_is_kept_if_it_fits() -> None:
    assert delivered_name("a.nii.gz", start="out-000001-") == "out-000001-a.nii.gz"
    assert name_bytes(delivered_name("ü" * 118 + ".csv", start="out-000001-")) <= 240


@given(st.text("abc", min_size=1, max_size=MAX_DATASET_NAME), st.text("abc", max_size=100))
def test_derived_data_set_name_is_valid(stem: str, ending: str) -> None:
    name = fitting_name(stem, f".{ending}", max_bytes=MAX_DATASET_NAME)
    assert TypeAdapter(Name).validate_python(name).endswith(f".{ending}")
