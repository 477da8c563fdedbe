"""Names of the files that jobs write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from sluice.contracts import naming
from sluice.contracts.base import Name
from sluice.contracts.naming import (
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
from sluice.contracts.plain_paths import stays_inside

#: With many that could be read as another path, or as written with escapes.
NAMES = st.one_of(
    st.text(min_size=1, max_size=40).filter(lambda text: "/" not in text),
    st.lists(
        st.sampled_from(["=", "%", "25", "2f", "2e", "00", "3A", "5C", ":", "\\", ".", "x"]),
        min_size=1,
        max_size=20,
    ).map("".join),
)


@given(st.integers(0, 10**15), st.integers(1, 999), NAMES)
def test_the_tools_own_name_comes_back(seq: int, attempt: int, own: str) -> None:
    name = output_name(seq, attempt, own)
    assert own_name(name) == own
    assert written_by_attempt(name)


@given(st.integers(0, 10**15), st.integers(1, 999), NAMES.filter(lambda own: "\0" not in own))
def test_every_name_is_one_that_the_catalogue_takes(seq: int, attempt: int, own: str) -> None:
    assert stays_inside(output_name(seq, attempt, own))


@given(st.lists(NAMES, min_size=1, max_size=240).map(lambda parts: "".join(parts)[:240]))
def test_a_name_that_would_be_too_long_is_cut_and_still_its_own(stem: str) -> None:
    name = output_name_that_fits(3, 1, stem, ".json")
    assert len(name.encode()) <= 240
    assert written_by_attempt(name)
    whole = naming._named(naming.attempt_prefix(3, 1), f"{stem}.json")
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
def test_only_names_that_could_be_another_path_are_written_otherwise(
    own: str, written: str
) -> None:
    assert output_name(3, 1, own) == f"00000003.1-{written}"
    assert own_name(f"00000003.1-{written}") == own


@pytest.mark.parametrize("own", ["=a", "=x=2F..=2Fetc", "=..=2F", "=3A", "=x=3a"])
def test_only_what_is_written_with_escapes_is_read_with_them(own: str) -> None:
    assert own_name(f"00000003.1-{own}") == own


def test_logs_are_known_and_keep_their_name() -> None:
    name = log_name(3, 2)
    assert name == "00000003.2.log"
    assert written_by_attempt(name)
    assert own_name(name) == name


@given(st.integers(0, 99), st.integers(1, 9), st.integers(0, 99), st.integers(1, 9), NAMES)
def test_no_two_attempts_share_a_name(
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
def test_any_other_name_is_somebody_elses(name: str) -> None:
    assert not written_by_attempt(name)
    assert own_name(name) == name


def test_what_is_written_while_an_attempt_runs_is_known_as_its_own() -> None:
    assert live_name(17, 2) == "00000017.2-live.json"
    assert written_by_attempt(live_name(17, 2)), (
        "so it is swept where a pilot that was killed left it"
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
def test_every_name_that_a_file_system_takes_fits_with_what_is_added(own: str) -> None:
    name = output_name(123_456_789, 999, own)
    assert name_bytes(name) <= 240
    assert written_by_attempt(name)
    assert name.endswith(".csv") == own.endswith(".csv")
    assert name != output_name(123_456_789, 999, own[:-5] + "y" + own[-4:])


def test_a_shortened_name_keeps_its_endings() -> None:
    name = own_name(output_name(3, 1, "scan-" + "0" * 240 + ".nii.gz"))
    assert name.startswith("scan-000")
    assert name.endswith(".nii.gz")


def test_a_name_that_fits_is_delivered_as_it_is() -> None:
    assert delivered_name("a.nii.gz", start="out-000001-") == "out-000001-a.nii.gz"
    assert name_bytes(delivered_name("ü" * 118 + ".csv", start="out-000001-")) <= 240


@given(st.text("abc", min_size=1, max_size=MAX_DATASET_NAME), st.text("abc", max_size=100))
def test_names_of_data_sets_that_are_made_of_others_are_names(stem: str, ending: str) -> None:
    name = fitting_name(stem, f".{ending}", most=MAX_DATASET_NAME)
    assert TypeAdapter(Name).validate_python(name).endswith(f".{ending}")
