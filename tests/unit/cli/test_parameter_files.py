"""Parameters that are files or data sets, given as paths."""

from pathlib import Path
from typing import Any

import pytest

from sluice.cli.transfer.parameter_files import local_files
from sluice.contracts.plan import FILES, Parameter
from sluice.contracts.problems import Unprocessable
from tests.unit.wfms.chains.plans import plan, step

PLAN = plan(
    step("only"),
    outputs=[("only", "out")],
    parameters={
        "ref": Parameter(type="File"),
        "mates": Parameter(type=FILES),
        "cuts": Parameter(type="int[]"),
    },
)


@pytest.fixture
def mates(tmp_path: Path) -> list[Path]:
    (tmp_path / "mates").mkdir()
    paths = [tmp_path / "mates" / name for name in ("1.txt", "2.txt", "10.txt")]
    for path in paths:
        path.write_text(path.name)
    return paths


def test_a_data_set_is_a_folder_or_a_list_of_files(mates: list[Path]) -> None:
    folder, (first, second, _) = mates[0].parent, mates
    for value, expected in (
        (str(folder), sorted(mates)),
        ([str(second), str(first)], [second, first]),
        (str(first), [first]),
        ([{"class": "File", "location": first.as_uri()}, str(second)], [first, second]),
    ):
        assert local_files(PLAN, {"mates": value, "cuts": [1]}) == {"mates": expected}


def test_what_names_a_data_set_is_no_path(mates: list[Path]) -> None:
    there: Any = {"class": "File", "dataset": "6f0c7f5e-6c1b-5d0f-9a52-3b8c1d1a7e11"}
    assert local_files(PLAN, {"mates": there, "ref": there}) == {}
    assert local_files(PLAN, {"mates": "asset:mates", "ref": str(mates[0])}) == {"ref": [mates[0]]}


def test_what_is_not_there_is_named(tmp_path: Path, mates: list[Path]) -> None:
    with pytest.raises(Unprocessable) as refused:
        local_files(PLAN, {"mates": [str(mates[0]), "nowhere"], "ref": str(tmp_path)})
    assert sorted(finding.message for finding in refused.value.findings) == [
        "parameter 'mates': no such file: nowhere",
        f"parameter 'ref': a folder, and not a file: {tmp_path}",
    ]
