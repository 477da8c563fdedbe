"""Assets are copied to the backup and restored from it."""

import subprocess
from pathlib import Path

from tests.deploy.composition import Composition

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
SCRIPT = Path(__file__).parents[2] / "deploy" / "backup" / "assets.sh"


def run_script(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", str(SCRIPT), *arguments],
        env={**ENVIRONMENT, "BACKUP_FOLDER": str(folder / "backup")},
        capture_output=True,
        text=True,
        check=False,
    )


def write_files(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def read_files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_assets_are_copied_once_and_restored(tmp_path: Path) -> None:
    storage = tmp_path / "input"
    assets = {"asset.model.1/model.pt": "m", "asset.conf.1/words%2Fcs.txt": "slovo"}
    write_files(storage, assets | {"asset.conf.2/.part-0123": "half", "run-1/frame.raw": "raw"})
    first = run_script(tmp_path, "copy", str(storage))
    assert (first.returncode, first.stdout) == (0, "2 files of assets copied\n"), first.stderr
    assert read_files(tmp_path / "backup" / "assets") == assets
    write_files(storage, more := {"asset.conf.3/config.ini": "c"})
    assert run_script(tmp_path, "copy", str(storage)).stdout == "1 files of assets copied\n"
    (storage / "asset.model.1" / "model.pt").unlink()
    again = tmp_path / "new"
    write_files(again, {"asset.conf.1/words%2Fcs.txt": "slovo"})
    assert run_script(tmp_path, "restore", str(again)).stdout == "2 files of assets copied\n"
    assert read_files(again) == assets | more
    assert run_script(tmp_path).returncode == 2


def test_links_in_a_storage_do_not_redirect_a_restore(tmp_path: Path) -> None:
    """Otherwise anybody who writes to the storage could have any file overwritten."""
    write_files(tmp_path / "backup" / "assets", {"asset.a.1/m.pt": "m", "asset.b.1/m.pt": "m"})
    write_files(tmp_path / "elsewhere", {"kept.txt": "kept"})
    storage = tmp_path / "input"
    (storage / "asset.a.1").mkdir(parents=True)
    (storage / "asset.a.1" / "m.pt.copying").symlink_to(tmp_path / "elsewhere" / "kept.txt")
    (storage / "asset.b.1").symlink_to(tmp_path / "elsewhere")
    refused = run_script(tmp_path, "restore", str(storage))
    assert refused.returncode == 1
    assert f"{storage}/./asset.b.1 is a link: remove it" in refused.stderr
    (storage / "asset.b.1").unlink()
    assert run_script(tmp_path, "restore", str(storage)).returncode == 0
    assert read_files(storage) == read_files(tmp_path / "backup" / "assets")
    assert read_files(tmp_path / "elsewhere") == {"kept.txt": "kept"}


def test_assets_are_copied_periodically_until_the_script_is_stopped(tmp_path: Path) -> None:
    """The service of docker-compose.yml does this; the storage may appear later."""
    storage, backup = tmp_path / "input", tmp_path / "backup" / "assets"
    process = subprocess.Popen(
        ["bash", str(SCRIPT), "keep", str(storage)],
        env={**ENVIRONMENT, "BACKUP_FOLDER": str(backup.parent), "BACKUP_ASSETS_PERIOD": "0.05"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert "it is not a folder yet" in process.stdout.readline()
        write_files(tmp_path / "made", {"asset.model.1/model.pt": "m"})
        (tmp_path / "made").rename(storage)
        lines = (line for line in process.stdout if "not a folder yet" not in line)
        assert next(lines).endswith(" 1 files of assets copied\n")
        write_files(tmp_path / "more", {"asset.conf.1/config.ini": "c"})
        (tmp_path / "more" / "asset.conf.1").rename(storage / "asset.conf.1")
        assert next(lines).endswith(" 1 files of assets copied\n"), "only new files are copied"
        assert read_files(backup) == {"asset.model.1/model.pt": "m", "asset.conf.1/config.ini": "c"}
        process.terminate()
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_composition_backs_up_the_assets_of_its_input_storage(composition: Composition) -> None:
    service = composition.services["backup-assets"]
    volumes = composition.volumes("backup-assets")
    script, (word, storage) = service["entrypoint"][-1], service["command"]
    assert (word, Path(script).name) == ("keep", SCRIPT.name)
    assert volumes[str(Path(script).parent)] == "./deploy/backup"
    assert volumes[service["environment"]["BACKUP_FOLDER"]] == "backup"
    dms = composition.volumes("dms")
    [target] = [path for path, volume in dms.items() if volume == "data"]
    assert volumes[str(Path(storage).parent)] == dms[target], (
        "the service mounts the storages of the DMS"
    )
    assert composition.is_read_only("backup-assets", str(Path(storage).parent))
    assert Path(storage).name == "input"
    assert f"USER {service['user']}" in (composition.root / "deploy" / "Dockerfile").read_text()
