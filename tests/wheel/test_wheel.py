"""The published wheel is complete, declares its requirements, and works without the source tree."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PIL import Image

from tests.wheel.environments import ROOT, InstalledWheel, build_wheel

WORDCOUNT = ROOT / "docs" / "tutorial" / "wordcount"

DECLARED = pytest.mark.long("`make check` compares what is imported with what is declared")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> InstalledWheel:
    return InstalledWheel.of(tmp_path / "environment", wheel)


def install_pack(name: str, wheel: Path, folder: Path) -> InstalledWheel:
    """Return an environment with Sluice and a pack, and the packages that the pack requires."""
    pack = build_wheel(folder / "wheel", ROOT / "templates" / name)
    installed = InstalledWheel.of(folder / "environment", wheel, pack)
    installed.add_needs(owner=f"sluice_{name}")
    return installed


def test_client_needs_no_extra(installed: InstalledWheel) -> None:
    installed.add_needs()
    assert (
        installed.import_all(
            "sluice.contracts", "sluice.clients", "sluice.cwl_values", "sluice.storage"
        )
        > 40
    )
    everything = "from sluice.cli.app import command_line; command_line()"
    installed.run("python", "-c", everything)
    assert "template" in installed.run("sluice", "--help")


@DECLARED
def test_pilot_needs_only_its_extra(installed: InstalledWheel) -> None:
    installed.add_needs("pilot")
    assert installed.import_all("pilot") > 60
    assert "sluice-pilot" in installed.run("sluice-pilot", "--help")


@DECLARED
def test_services_need_only_their_extra(installed: InstalledWheel) -> None:
    installed.add_needs("images", "services")
    assert installed.import_all("sluice", "dms", "wms", "wfms") > 400


@DECLARED
def test_programs_of_the_detector_pack_need_only_its_requirements(
    wheel: Path, tmp_path: Path
) -> None:
    installed = install_pack("spd", wheel, tmp_path)
    for program in ("spd-daq", "spd-decode", "spd-merge"):
        assert f"usage: {program}" in installed.run(program, "--help")


@pytest.fixture
def system(installed: InstalledWheel, tmp_path: Path) -> Iterator[InstalledWheel]:
    """Yield an environment with a running system, whose home folder is ``home``."""
    installed.add_needs("services", "pilot")
    installed.run("sluice", "up", "--detach", "--port", "0", "--home", str(tmp_path / "home"))
    try:
        yield installed
    finally:
        installed.run("sluice", "down", "--now", "--home", str(tmp_path / "home"))


def test_system_of_the_wheel_starts_shows_pages_and_runs_a_workflow(
    system: InstalledWheel, tmp_path: Path
) -> None:
    home = ["--home", str(tmp_path / "home")]
    url = json.loads(system.run("sluice", "status", "--json", *home))["url"]
    headers = {"Authorization": f"Bearer {system.run('sluice', 'token', *home).strip()}"}
    assert httpx.get(url, timeout=30).status_code == 401
    page = httpx.get(url, timeout=30, headers=headers).raise_for_status().text
    assert "<title>" in page
    parts = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert parts
    for part in parts:
        assert httpx.get(f"{url}{part}", timeout=30).raise_for_status().content

    template = shutil.copytree(WORDCOUNT, tmp_path / "wordcount")
    workflow, texts = str(template / "workflow.cwl"), str(template / "texts")
    system.run("sluice", "run", workflow, "--input", texts, "--out", str(tmp_path / "out"), *home)
    counts = (tmp_path / "out" / "counts.txt").read_text().split()
    words = " ".join(path.read_text().lower() for path in (template / "texts").iterdir())
    assert dict(zip(counts[1::2], map(int, counts[::2]), strict=True)) == Counter(
        re.findall("[a-z]+", words)
    )


def test_wheel_contains_only_the_product(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    product = {"sluice", "dms", "wms", "wfms", "pilot"}
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == product


@pytest.mark.parametrize("pack", ["collage", "masstimes", "ocr", "spd"])
def test_wheel_of_a_pack_contains_only_its_package_without_tests(pack: str, tmp_path: Path) -> None:
    names = zipfile.ZipFile(build_wheel(tmp_path, ROOT / "templates" / pack)).namelist()
    files = [Path(name) for name in names if ".dist-info/" not in name]
    assert {file.parts[0] for file in files} == {pack}
    assert not [file for file in files if "tests" in file.parts]


def test_templates_can_be_extracted_from_the_wheel_of_a_pack(wheel: Path, tmp_path: Path) -> None:
    installed = install_pack("ocr", wheel, tmp_path)
    installed.run("ocr-pack", str(tmp_path / "pack"))
    assert (tmp_path / "pack" / "tools" / "ocr-layout.cwl").is_file()
    assert (tmp_path / "pack" / "config" / "ocr" / "ocr.pt.cpu").stat().st_size > 1_000_000


def test_pack_of_the_how_to_page_is_built_and_runs(wheel: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "write-a-pack.md").read_text(encoding="utf-8")
    [project] = re.findall("```toml\n(.*?)```", page, re.DOTALL)
    [program, tests] = re.findall("```python\n(.*?)```", page, re.DOTALL)
    [workflow] = re.findall("```yaml\n(.*?)```", page, re.DOTALL)
    pack = tmp_path / "thumbnails"
    (pack / "thumbnails").mkdir(parents=True)
    (pack / "pyproject.toml").write_text(project)
    (pack / "workflow.cwl").write_text(workflow)
    (pack / "thumbnails" / "__init__.py").touch()
    (pack / "thumbnails" / "scale.py").write_text(program)
    (pack / "tests").mkdir()
    (pack / "tests" / "test_scale.py").write_text(tests)
    Image.new("RGB", (300, 600)).save(tmp_path / "photo.jpg")

    own_tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests"],
        cwd=pack,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(pack), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in own_tests.stdout, own_tests.stdout + own_tests.stderr
    built = build_wheel(tmp_path / "wheel", pack)
    assert not [name for name in zipfile.ZipFile(built).namelist() if "tests" in name]
    installed = InstalledWheel.of(tmp_path / "environment", wheel, built)
    installed.add_needs("services")
    installed.add_needs(owner="thumbnails")
    installed.run("sluice", "template", "check", str(pack / "workflow.cwl"))
    out = tmp_path / "small.png"
    installed.run("thumbnails-scale", str(tmp_path / "photo.jpg"), "--height=60", f"--out={out}")
    with Image.open(out) as small:
        assert small.size == (30, 60)
