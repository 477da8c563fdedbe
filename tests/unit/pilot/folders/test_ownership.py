"""A pilot works in a folder that nobody else can put anything into, and says what is wrong with one
that is not so."""

import os
from pathlib import Path

import pytest

from pilot.folders.ownership import UnsafeFolderError, own_folder
from pilot.folders.pilot_folder import open_folder
from pilot.settings import PilotSettings
from tests.needs import ROOT_RIGHTS

SOMEBODY = 65534


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder where everybody may write, as /tmp is."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_what_is_missing_is_made_for_its_user_alone(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        made = own_folder(tmp_path / "a" / "b")
    finally:
        os.umask(umask)
    assert made == (tmp_path / "a" / "b").resolve()
    assert (mode(tmp_path / "a"), mode(made)) == (0o700, 0o700)


def test_what_is_there_is_closed_only_where_it_is_the_pilots(tmp_path: Path) -> None:
    work, folder = tmp_path / "work", tmp_path / "work" / "node-1"
    folder.mkdir(parents=True)
    work.chmod(0o755)
    folder.chmod(0o755)
    opened = open_folder(folder, patience=0)
    opened.close()
    assert (mode(work), mode(folder)) == (0o755, 0o700)


def test_a_folder_of_ones_own_may_lie_among_those_of_others(shared: Path) -> None:
    assert own_folder(shared / "mine" / "more").is_dir()


def test_a_link_of_ones_own_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    assert own_folder(tmp_path / "link" / "work") == (tmp_path / "disk" / "work").resolve()


def test_the_way_that_a_link_leads_is_looked_at_too(tmp_path: Path) -> None:
    """Another could put a folder of his in the place of the one that it leads to."""
    (tmp_path / "open" / "disk").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open" / "disk")
    with pytest.raises(UnsafeFolderError, match="can be replaced by anybody"):
        own_folder(tmp_path / "link" / "work")


@pytest.mark.parametrize("given", [0o720, 0o702, 0o777, 0o1777])
def test_others_may_not_write_to_it(tmp_path: Path, given: int) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work").chmod(given)
    with pytest.raises(
        UnsafeFolderError, match=rf"mode {given:o}.*--work-dir, SLUICE_PILOT_WORK_DIR"
    ):
        own_folder(tmp_path / "work")


def test_it_may_not_lie_where_everybody_can_replace_it(shared: Path) -> None:
    shared.chmod(0o777)
    with pytest.raises(
        UnsafeFolderError, match=r"everybody may write to .*shared, which has no sticky bit"
    ):
        own_folder(shared / "mine" / "work")


def test_it_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "work").touch()
    with pytest.raises(UnsafeFolderError, match=r"is no folder"):
        own_folder(tmp_path / "work")
    with pytest.raises(UnsafeFolderError, match=r"cannot be used: Not a directory"):
        own_folder(tmp_path / "work" / "inner")


def test_a_link_to_nothing_is_not_made_to_lead_somewhere(tmp_path: Path) -> None:
    (tmp_path / "work").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFolderError):
        own_folder(tmp_path / "work")
    assert not (tmp_path / "elsewhere").exists()


def test_it_may_not_belong_to_somebody_else(tmp_path: Path) -> None:
    theirs = Path("/")  # of root, where the tests are not run by root
    if os.geteuid() == 0:
        theirs = tmp_path / "work"
        theirs.mkdir(mode=0o700)
        os.chown(theirs, SOMEBODY, SOMEBODY)
    with pytest.raises(UnsafeFolderError, match=r"belongs to user (nobody|root)"):
        own_folder(theirs)


@pytest.mark.needs(ROOT_RIGHTS)
@pytest.mark.parametrize("entry", ["folder", "link"])
def test_what_somebody_else_has_put_there_is_not_entered(
    tmp_path: Path, shared: Path, entry: str
) -> None:
    if entry == "folder":
        (shared / "work" / "node-1").mkdir(parents=True, mode=0o700)
    else:
        (tmp_path / "mine" / "node-1").mkdir(parents=True, mode=0o700)
        (shared / "work").symlink_to(tmp_path / "mine")
    os.lchown(shared / "work", SOMEBODY, SOMEBODY)
    with pytest.raises(
        UnsafeFolderError, match=r"was put into .*shared, where everybody may write, by user nobody"
    ):
        own_folder(shared / "work" / "node-1")


def test_the_default_lies_where_only_its_user_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLUICE_PILOT_WORK_DIR", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert PilotSettings().work_dir.is_relative_to(tmp_path)
    monkeypatch.setenv("SLUICE_PILOT_WORK_DIR", "~/jobs")
    assert PilotSettings().work_dir == tmp_path / "jobs"
