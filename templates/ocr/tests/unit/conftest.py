"""Generated scans: a page of each kind, and a page with each damage."""

from pathlib import Path

import pytest
from ocr import scans
from ocr.damage import DAMAGES
from ocr.scan_page import KINDS


@pytest.fixture(scope="session")
def volume(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a page of each kind, in this order; the truth is in `../truth`."""
    folder = tmp_path_factory.mktemp("ocr") / "scans"
    arguments = ["--out", str(folder), "--truth", str(folder.parent / "truth"), "--seed", "3"]
    kinds = [f"--kind={kind}" for kind in KINDS]
    assert scans.main([*arguments, "--pages", str(len(KINDS)), "--volume", "kinds", *kinds]) == 0
    return folder


@pytest.fixture(scope="session")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `DAMAGE.png` for each damage."""
    folder = tmp_path_factory.mktemp("ocr") / "damaged"
    numbers = dict(zip(DAMAGES, range(1, len(DAMAGES) + 1), strict=True))
    options = [f"--damage={damage}={number}" for damage, number in numbers.items()]
    arguments = ["--out", str(folder), "--seed", "4", "--pages", str(len(DAMAGES)), *options]
    assert scans.main(arguments) == 0
    for damage, number in numbers.items():
        (folder / f"volume-p{number:05d}.png").rename(folder / f"{damage}.png")
    return folder
