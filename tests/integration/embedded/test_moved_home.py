"""A system works after its home folder was moved."""

import json
from pathlib import Path

import pytest

from sluice.embedded.home import Home
from sluice.embedded.process import start_detached, stop_system
from tests.e2e.commands import run_sluice, write_texts
from tests.e2e.systems import NO_CONTAINERS, open_home_folder


def test_system_keeps_its_data_after_its_home_moved_with_and_without_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of one of the places needs quoting in the database."""
    for name, value in NO_CONTAINERS.items():
        monkeypatch.setenv(name, value)
    with open_home_folder() as first:
        running = start_detached(Home(first), ["--port", "0", "--pilots", "0"])
        texts = write_texts(tmp_path / "in", "a", "b")
        run_sluice("dataset", "register", "texts", *texts, "--home", str(first))
        stop_system(running)
        place = first
        for moved, link in ((first.with_name('it\'s "ü" \\ here'), False), (tmp_path / "3", True)):
            place.rename(moved)
            if link:
                place.symlink_to(moved)
            place = moved
            running = start_detached(Home(place), ["--port", "0", "--pilots", "0"])
            try:
                option = ["--home", str(place)]
                storages = json.loads(run_sluice("storage", "list", "--json", *option).stdout)
                assert {Path(storage["url"]).parent.name for storage in storages} == {"storages"}
                assert all(f"file://{place}/" in storage["url"] for storage in storages)
                assert not any(storage.get("warning") for storage in storages)
                out = tmp_path / f"out-{link}"
                run_sluice("dataset", "get", "texts", "--out", str(out), *option)
                assert sorted(path.read_text() for path in out.glob("*.txt")) == ["a\n", "b\n"]
                more = write_texts(tmp_path / f"more-{link}", "c")
                run_sluice("dataset", "register", f"more-{link}", *more, *option)
            finally:
                stop_system(running)
