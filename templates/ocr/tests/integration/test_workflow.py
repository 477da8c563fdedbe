"""The OCR workflow under plain cwltool gives the files of a plain loop."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ocr import plain_loop

from templates.ocr.tests.integration.conftest import read_contents

pytestmark = [
    pytest.mark.long("pero-ocr and torch have 1.5 GB, and `make test` does not install them"),
    pytest.mark.filterwarnings("ignore"),  # Warnings of torch and of imports of pero-ocr.
    pytest.mark.xdist_group("pero-ocr"),
]

PACK = Path(__file__).parents[2]
CONFIGURATIONS = {
    "layout_config": PACK / "config" / "layout",
    "ocr_config": PACK / "config" / "ocr",
}


def run_cwltool(*arguments: str) -> subprocess.CompletedProcess[str]:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["cwltool", *arguments],
        env={**os.environ, "PATH": programs},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_cwltool_gives_the_same_files_as_a_plain_loop(pages: list[Path], tmp_path: Path) -> None:
    loop, out = tmp_path / "loop", tmp_path / "out"
    options = [f"--layout-config={CONFIGURATIONS['layout_config']}"]
    options += [f"--ocr-config={CONFIGURATIONS['ocr_config']}", "--volume=three"]
    assert plain_loop.main([*map(str, pages), *options, f"--out={loop}", "--processes=1"]) == 0
    job = {
        "scans": [{"class": "File", "path": str(page)} for page in pages],
        "volume": "three",
        **{
            name: {"class": "Directory", "path": str(path)} for name, path in CONFIGURATIONS.items()
        },
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    ended = run_cwltool(
        "--outdir", str(out), str(PACK / "workflow.cwl"), str(tmp_path / "job.json")
    )
    assert ended.returncode == 0, ended.stderr
    assert read_contents(out) == read_contents(loop)
    assert len(read_contents(out)) == 3 * len(pages) + 3
    assert [Path(file["path"]).name for file in json.loads(ended.stdout)["pages"]] == [
        f"{page.stem}.xml" for page in pages
    ]


def test_check_of_an_unusable_configuration_fails_with_its_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.ini").write_text("[PAGE_PARSER]\nRUN_OCR = yes\n")
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"config": {"class": "Directory", "path": str(tmp_path)}}))
    tool = PACK / "tools" / "ocr-check-config.cwl"
    ended = run_cwltool("--outdir", str(tmp_path / "out"), str(tool), str(job))
    assert ended.returncode == 1
    assert "completed permanentFail" in ended.stderr
    assert "pero-ocr refuses the configuration: " in ended.stderr
