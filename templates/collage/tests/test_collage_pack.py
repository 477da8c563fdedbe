"""`collage-pack` writes the files of the template."""

from pathlib import Path

from collage import pack

from sluice.cwl import compile_file

PACK = Path(__file__).parents[1]


def test_written_pack_is_complete_and_compiles(tmp_path: Path) -> None:
    assert pack.main([str(tmp_path / "shelf")]) == 0
    written = [path for path in (tmp_path / "shelf").rglob("*") if path.is_file()]
    for path in written:
        assert path.read_bytes() == (PACK / path.relative_to(tmp_path / "shelf")).read_bytes()
    compiled, _ = compile_file(tmp_path / "shelf" / "workflow.cwl", name="collage")
    assert compiled.findings == []
