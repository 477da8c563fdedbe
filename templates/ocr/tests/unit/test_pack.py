"""`ocr-pack` writes the files of the template."""

from pathlib import Path

import pytest
from ocr import pack

from sluice.cwl import compile_file

PACK = Path(__file__).parents[2]


def test_written_pack_is_complete(tmp_path: Path) -> None:
    assert pack.main([str(tmp_path / "pack")]) == 0
    written = [path for path in (tmp_path / "pack").rglob("*") if path.is_file()]
    for path in written:
        assert path.read_bytes() == (PACK / path.relative_to(tmp_path / "pack")).read_bytes()
    assert {path.name for path in written} >= {"workflow.cwl", "ocr.pt", "ocr.pt.cpu", "config.ini"}


@pytest.mark.parametrize("name", ["workflow.cwl", "dummy.cwl"])
def test_workflows_of_the_written_pack_compile(name: str, tmp_path: Path) -> None:
    assert pack.main([str(tmp_path)]) == 0
    compiled, _ = compile_file(tmp_path / name, name="ocr")
    assert compiled.findings == []


def test_existing_files_are_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config").mkdir()
    assert pack.main([str(tmp_path)]) == 64
    assert f"{tmp_path / 'config'} is there already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["config"]
