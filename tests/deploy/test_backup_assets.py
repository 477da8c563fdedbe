"""Assets come into the backup, and back."""

import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "deploy" / "backup" / "assets.sh"


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", str(SCRIPT), *arguments],
        env={"PATH": "/usr/bin:/bin", "BACKUP_FOLDER": str(folder / "backup")},
        capture_output=True,
        text=True,
        check=False,
    )


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def files_in(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_assets_are_copied_once_and_restored(tmp_path: Path) -> None:
    storage = tmp_path / "input"
    assets = {"asset.model.1/model.pt": "m", "asset.conf.1/words%2Fcs.txt": "slovo"}
    put(storage, assets | {"asset.conf.2/.part-0123": "half", "run-1/frame.raw": "raw"})
    first = run(tmp_path, "copy", str(storage))
    assert (first.returncode, first.stdout) == (0, "2 files of assets copied\n"), first.stderr
    assert files_in(tmp_path / "backup" / "assets") == assets
    put(storage, more := {"asset.conf.3/config.ini": "c"})
    assert run(tmp_path, "copy", str(storage)).stdout == "1 files of assets copied\n"
    (storage / "asset.model.1" / "model.pt").unlink()
    again = tmp_path / "new"
    put(again, {"asset.conf.1/words%2Fcs.txt": "slovo"})
    assert run(tmp_path, "restore", str(again)).stdout == "2 files of assets copied\n"
    assert files_in(again) == assets | more
    assert run(tmp_path).returncode == 2
