"""The photo collage on a real system and under plain cwltool equals that of a plain program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.e2e.commands import run_sluice
from tests.e2e.packs.conftest import HEIGHT, WORKFLOW
from tests.e2e.systems import LiveSystem

pytestmark = pytest.mark.xdist_group("e2e-command")


def assert_same(picture: Path, folder: Path) -> None:
    with Image.open(picture) as collage, Image.open(folder / "plain.png") as plain:
        assert collage.size == plain.size
        assert collage.tobytes() == plain.tobytes()


def test_collage_equals_that_of_a_plain_program(
    system: LiveSystem, collage_folder: Path, tmp_path: Path
) -> None:
    options = ["--order", "mtime", "--param", f"height={HEIGHT}", "--url", system.url]
    out = str(tmp_path / "out")
    run_sluice(
        "run", str(WORKFLOW), "--input", str(collage_folder / "photos"), *options, "--out", out
    )
    assert_same(tmp_path / "out" / "collage.png", collage_folder)


def test_single_photo_makes_a_collage(
    system: LiveSystem, collage_folder: Path, tmp_path: Path
) -> None:
    photo = min((collage_folder / "photos").iterdir(), key=lambda path: path.stat().st_mtime)
    out = str(tmp_path / "out")
    options = ["--param", f"height={HEIGHT}", "--url", system.url, "--out", out]
    run_sluice("run", str(WORKFLOW), "--input", str(photo), *options)
    with (
        Image.open(tmp_path / "out" / "collage.png") as collage,
        Image.open(collage_folder / "plain.png") as plain,
    ):
        assert collage.tobytes() == plain.crop((0, 0, collage.width, HEIGHT)).tobytes()


def test_cwltool_makes_the_same_collage(collage_folder: Path, tmp_path: Path) -> None:
    photos = sorted((collage_folder / "photos").iterdir(), key=lambda path: path.stat().st_mtime)
    job = {
        "height": HEIGHT,
        "photos": [{"class": "File", "path": str(photo)} for photo in photos],
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["cwltool", "--outdir", tmp_path / "out", WORKFLOW, tmp_path / "job.json"],
        env={**os.environ, "PATH": programs},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower()
    assert_same(tmp_path / "out" / "collage.png", collage_folder)
