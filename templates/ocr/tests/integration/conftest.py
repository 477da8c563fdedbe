"""Generated pages, and helpers that compare files of pages."""

import re
from pathlib import Path

import pytest
from ocr import scans

KINDS = ("clean", "columns", "noise")


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return three pages of different kinds; the truth is in `../truth`."""
    folder = tmp_path_factory.mktemp("pages") / "scans"
    arguments = ["--out", str(folder), "--truth", str(folder.parent / "truth"), "--seed", "72"]
    kinds = [f"--kind={kind}" for kind in KINDS]
    assert scans.main([*arguments, "--pages", str(len(KINDS)), *kinds]) == 0
    return sorted(folder.iterdir())


def read_content(path: Path) -> str:
    """Return the text of a file without time stamps of pero-ocr and checksums of such files."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00", "TIME", text)
    return re.sub(r'SIZE="\d+" CHECKSUM="[0-9a-f]{64}"', "SUM", text)


def read_contents(folder: Path) -> dict[str, str]:
    """Return the results in a folder by name, without intermediate layouts and the manifest."""
    return {
        path.name: read_content(path)
        for path in folder.iterdir()
        if ".layout." not in path.name and path.name != "manifest.json"
    }
