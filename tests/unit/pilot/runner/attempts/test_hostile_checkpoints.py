"""Links, odd names and forged lists in checkpoints do no harm."""

import os
from pathlib import Path

import pytest

from tests.needs import ROOT_RIGHTS
from tests.unit.pilot.runner.attempts.attempts_with_checkpoints import (
    StandaloneAttempt,
)


def test_links_and_pipes_are_not_kept(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    secret = root / "in" / "secret"
    secret.write_text("hush")
    first.write_file("state/n", "1")
    (first.out / "state" / "link").symlink_to(secret)
    (first.out / "state" / "folder").symlink_to(secret.parent)
    os.mkfifo(first.out / "state" / "pipe")
    first.keep_checkpoint()
    assert StandaloneAttempt(root, 2).restore_checkpoint() == {"state/n": "1"}
    notes = "\n".join(first.notes)
    assert "'state/link' is not kept in checkpoints: it is a link" in notes
    assert "'state/pipe' is not kept in checkpoints: it is not a regular file" in notes


def test_link_in_the_path_of_a_pattern_is_not_followed(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    (root / "in" / "n").write_text("hush")
    (first.out / "state").symlink_to(root / "in")
    first.keep_checkpoint()
    assert not (root / "logs").exists()


@pytest.mark.needs(ROOT_RIGHTS)
def test_hard_link_to_a_file_of_another_user_is_not_kept(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    first.write_file("state/n", "1")
    secret = first.folder / "secret"
    secret.write_text("hush")
    os.chown(secret, 12345, 12345)
    os.link(secret, first.out / "state" / "taken")
    first.keep_checkpoint()
    assert StandaloneAttempt(root, 2).restore_checkpoint() == {"state/n": "1"}


def test_file_names_of_any_bytes_are_restored(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    names = [b"new\nline", b"\xff\xfe", b"%2e%2e", b"a b'\"$(x)", "ą".encode()]
    (first.out / "state").mkdir()
    for name in names:
        with open(os.fsencode(first.out / "state") + b"/" + name, "wb") as file:
            file.write(name)
    first.keep_checkpoint()
    second = StandaloneAttempt(root, 2)
    second.checkpoints.restore_newest(str(second.folder), lambda: None)
    state_folder = os.fsencode(second.out / "state")
    assert sorted(os.listdir(state_folder)) == sorted(names)
    assert all(Path(os.fsdecode(state_folder + b"/" + name)).read_bytes() == name for name in names)


@pytest.mark.parametrize("path", ["../../evil", "/tmp/evil", "state/%2e%2e/%2e%2e/evil", "a//b"])
def test_forged_list_does_not_write_outside_the_job_folder(root: Path, path: str) -> None:
    first = StandaloneAttempt(root, 1)
    first.write_file("state/n", "1")
    first.keep_checkpoint()
    index = root / "logs" / "00000007.1-checkpoint-list.0.json"
    index.write_text(index.read_text().replace("state/n", path))
    second = StandaloneAttempt(root, 2)
    assert second.restore_checkpoint() == {}
    assert not list(root.parent.rglob("evil"))


def test_checkpoint_is_not_restored_through_a_link(root: Path) -> None:
    """The link is an input that is staged as a link to the storage."""
    first = StandaloneAttempt(root, 1)
    first.write_file("state/n", "1")
    first.keep_checkpoint()
    second = StandaloneAttempt(root, 2)
    (second.out / "state").symlink_to(root / "in")
    assert not (root / "in" / "n").exists()
    second.restore_checkpoint()
    assert not (root / "in" / "n").exists()
    assert "something else is at 'state/n'" in second.notes[0]


def test_checkpoint_replaces_a_staged_file(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    first.write_file("state/n", "1")
    first.keep_checkpoint()
    second = StandaloneAttempt(root, 2)
    (second.out / "state").mkdir()
    (second.out / "state" / "n").symlink_to(root / "in" / "a.dat")
    assert second.restore_checkpoint() == {"state/n": "1"}
    assert (root / "in" / "a.dat").read_bytes() == b"frame"
