"""The OCR workflow through the whole system gives the files of a plain loop.

The configurations are assets, and a damaged page does not affect other pages.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ocr import damage, plain_loop

from sluice.embedded.home import Home
from sluice.embedded.process import use_or_start_system
from templates.ocr.tests.integration.conftest import read_contents
from tests.servers import commands

pytestmark = [
    pytest.mark.long("pero-ocr and torch have 1.5 GB, and `make test` does not install them"),
    pytest.mark.filterwarnings("ignore"),  # Warnings of torch and of imports of pero-ocr.
    pytest.mark.xdist_group("pero-ocr"),
]

PACK = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    home = Home(tmp_path_factory.mktemp("ocr-system"))
    with use_or_start_system(home, "--pilots", "1", settings={"PATH": programs}) as running:
        yield running.url


def run_sluice(*arguments: object, code: int = 0) -> str:
    done = commands.run("sluice", *map(str, arguments), seconds=600)
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def test_unusable_configuration_is_not_stored_as_an_asset(url: str, tmp_path: Path) -> None:
    (tmp_path / "config.ini").write_text("[PAGE_PARSER]\nRUN_OCR = yes\n")
    check = PACK / "tools" / "ocr-check-config.cwl"
    stderr = run_sluice("asset", "put", "wrong", tmp_path, "--check", check, "--url", url, code=1)
    assert "nothing was stored" in stderr
    assert "pero-ocr refuses the configuration: " in " ".join(stderr.split())


def test_system_gives_the_same_files_as_a_plain_loop(
    url: str, pages: list[Path], tmp_path: Path
) -> None:
    layout, ocr = (PACK / "config" / name for name in ("layout", "ocr"))
    run_sluice("asset", "put", "ocr-layout", layout, "--url", url)
    run_sluice("asset", "put", "ocr-model", ocr, "--url", url)
    loop, out = tmp_path / "loop", tmp_path / "out"
    options = [f"--layout-config={layout}", f"--ocr-config={ocr}", "--volume=three"]
    assert plain_loop.main([*map(str, pages), *options, f"--out={loop}", "--processes=1"]) == 0
    bad = tmp_path / "volume-p00002b.png"
    bad.write_bytes(damage.DAMAGES["cut"](pages[0].read_bytes(), "png"))
    output = run_sluice(
        "run",
        PACK / "workflow.cwl",
        "--input",
        *sorted([*pages, bad], key=lambda one: one.name),
        "--param",
        "volume=three",
        "--out",
        out,
        "--url",
        url,
    )
    [log] = (out / "failed").glob("*/*/log.txt")
    assert "the image cannot be decoded to its end" in log.read_text()
    shutil.rmtree(out / "failed")
    assert read_contents(out) == read_contents(loop)
    assert "volume-p00002b.png" in output
    assert "the image cannot be decoded to its end" in " ".join(output.split())
