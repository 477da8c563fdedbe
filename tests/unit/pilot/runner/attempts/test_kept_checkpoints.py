"""Files of a job are kept, restored and removed, also after interruptions and damage."""

import os
from pathlib import Path
from typing import Any

import pytest

from pilot.checkpoints.checkpoint_store import CheckpointStore, remove_job_checkpoints
from pilot.runner.files import matching_files
from sluice.contracts.common.naming import written_by_attempt
from sluice.contracts.jobs.checkpoints import KeptCheckpoint
from sluice.storage import remove
from tests.unit.pilot.runner.attempts.attempts_with_checkpoints import (
    LIMIT,
    StandaloneAttempt,
    list_log_files,
)


def make_url(store: Path) -> str:
    return f"file://{store}/logs"


def test_next_attempt_gets_the_files_that_match(root: Path) -> None:
    first = StandaloneAttempt(root, 1, files=("state/*", "model.pt"))
    first.write_file("state/queue", "12 pages")
    first.write_file("state/deep/seen", "a b c")
    first.write_file("state/.hidden", "no")
    first.write_file("model.pt", "weights")
    first.write_file("other", "no")
    first.keep_checkpoint()
    second = StandaloneAttempt(root, 2, files=("state/*", "model.pt"))
    assert second.restore_checkpoint() == {
        "state/queue": "12 pages",
        "state/deep/seen": "a b c",
        "model.pt": "weights",
    }
    assert "resumed from the checkpoint of " in second.checkpoints.resume_note
    assert second.checkpoints.resume_note.endswith("(attempt 1), 3 files, 20 bytes")
    assert os.access(second.out / "state" / "queue", os.W_OK)


def test_attempt_without_a_checkpoint_starts_from_nothing(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    assert first.restore_checkpoint() == {}
    first.keep_checkpoint()
    assert not (root / "logs").exists()
    second = StandaloneAttempt(root, 2)
    assert (second.restore_checkpoint(), second.notes, second.checkpoints.resume_note) == (
        {},
        [],
        "",
    )
    assert (first.checkpoints.may_exist, second.checkpoints.may_exist) == (False, True)


def test_unchanged_files_are_not_copied_again(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    first.write_file("state/big", "b" * 100)
    first.write_file("state/n", "1")
    first.keep_checkpoint()
    before = {path.name: path.stat() for path in (root / "logs").iterdir()}
    first.keep_checkpoint()
    assert {path.name: path.stat().st_ino for path in (root / "logs").iterdir()} == {
        name: stat.st_ino for name, stat in before.items()
    }
    first.write_file("state/n", "2")
    first.keep_checkpoint()
    assert list_log_files(root) == [
        "00000007.1-checkpoint-list.0.json",
        "00000007.1-checkpoint-list.1.json",
        "00000007.1-checkpoint.0",
        "00000007.1-checkpoint.1",
        "00000007.1-checkpoint.2",
    ]
    assert (root / "logs" / "00000007.1-checkpoint.2").read_text() == "2"
    assert StandaloneAttempt(root, 2).restore_checkpoint() == {
        "state/big": "b" * 100,
        "state/n": "2",
    }


def test_two_checkpoints_are_kept(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    for number in range(5):
        first.write_file("state/n", str(number))
        first.keep_checkpoint()
    assert list_log_files(root) == [
        "00000007.1-checkpoint-list.0.json",
        "00000007.1-checkpoint-list.1.json",
        "00000007.1-checkpoint.3",
        "00000007.1-checkpoint.4",
    ]
    # Garbage collection finds all of them.
    assert all(map(written_by_attempt, list_log_files(root)))


def test_deleted_file_is_not_restored(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    first.write_file("state/a", "a")
    first.write_file("state/b", "b")
    first.keep_checkpoint()
    (first.out / "state" / "a").unlink()
    first.keep_checkpoint()
    assert StandaloneAttempt(root, 2).restore_checkpoint() == {"state/b": "b"}


@pytest.mark.parametrize("damage", ["content", "missing", "list", "torn list"])
def test_previous_checkpoint_is_restored_if_the_last_is_damaged(root: Path, damage: str) -> None:
    first = StandaloneAttempt(root, 1)
    for number in ("one", "two"):
        first.write_file("state/n", number)
        first.keep_checkpoint()
    newest = root / "logs" / "00000007.1-checkpoint.1"
    index = root / "logs" / "00000007.1-checkpoint-list.1.json"
    match damage:
        case "content":
            newest.write_text("owt")
        case "missing":
            newest.unlink()
        case "list":
            index.unlink()
        case _:
            index.write_bytes(index.read_bytes()[:40])
    second = StandaloneAttempt(root, 2)
    assert second.restore_checkpoint() == {"state/n": "one"}
    assert (damage == "list") == (len(second.notes) == 1)


def test_attempt_without_an_intact_checkpoint_starts_at_the_beginning_and_logs_it(
    root: Path,
) -> None:
    first = StandaloneAttempt(root, 1)
    first.write_file("state/a", "a")
    first.write_file("state/b", "b")
    first.keep_checkpoint()
    (root / "logs" / "00000007.1-checkpoint.1").unlink()
    second = StandaloneAttempt(root, 2)
    assert second.restore_checkpoint() == {}
    assert second.notes[-1] == "no complete checkpoint was found: it started from the beginning"
    assert os.listdir(second.folder / "tmp") == []


def test_checkpoint_without_its_list_does_not_count_and_leaves_no_files(
    root: Path,
) -> None:
    """Files are written before the list that names them."""
    first = StandaloneAttempt(root, 1)
    first.write_file("state/n", "one")
    first.keep_checkpoint()
    first.write_file("state/n", "two")
    (root / "logs" / "00000007.1-checkpoint-list.1.json").mkdir()
    first.keep_checkpoint()
    assert any("could not be kept" in note for note in first.notes)
    assert "00000007.1-checkpoint.1" not in list_log_files(root)
    second = StandaloneAttempt(root, 2)
    assert second.restore_checkpoint() == {"state/n": "one"}


def test_checkpoint_of_the_newest_attempt_is_restored(root: Path) -> None:
    """An older attempt that still runs keeps checkpoints of its own."""
    first = StandaloneAttempt(root, 1)
    first.write_file("state/n", "first")
    first.keep_checkpoint()
    second = StandaloneAttempt(root, 2)
    second.restore_checkpoint()
    second.write_file("state/n", "second")
    second.keep_checkpoint()
    first.write_file("state/n", "first, late")
    first.keep_checkpoint()
    assert StandaloneAttempt(root, 3).restore_checkpoint() == {"state/n": "second"}


def test_attempt_without_progress_keeps_no_checkpoint_of_its_own(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    first.write_file("state/n", "first")
    first.keep_checkpoint()
    second = StandaloneAttempt(root, 2)
    second.restore_checkpoint()
    second.keep_checkpoint()
    assert not any(name.startswith("00000007.2") for name in list_log_files(root))
    assert StandaloneAttempt(root, 3).restore_checkpoint() == {"state/n": "first"}


def test_too_large_checkpoint_is_not_kept_and_the_log_says_why(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    first.write_file("state/n", "x" * (LIMIT + 1))
    first.keep_checkpoint()
    assert not (root / "logs").exists()
    assert first.notes == [
        "no checkpoint was kept: 1 file, 1001 bytes are more than this pilot keeps (0 MiB,"
        " SLUICE_PILOT_CHECKPOINT_LIMIT)"
    ]


def test_pilot_with_a_limit_of_zero_keeps_no_checkpoints_and_logs_it(root: Path) -> None:
    first = StandaloneAttempt(root, 1, limit=0)
    first.write_file("state/n", "1")
    first.keep_checkpoint()
    assert first.notes == ["this pilot keeps no checkpoints (SLUICE_PILOT_CHECKPOINT_LIMIT is 0)"]
    assert not first.checkpoints.may_exist


def test_checkpoint_with_too_many_files_is_not_kept(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pilot.runner.files.matching_files.MAX_CHECKPOINT_FILES", 2)
    first = StandaloneAttempt(root, 1)
    for name in "abc":
        first.write_file(f"state/{name}", name)
    first.keep_checkpoint()
    assert first.notes == ["no checkpoint was kept: there are more than 2 files"]


def test_checkpoint_with_a_file_that_is_written_in_place_is_left_out(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = StandaloneAttempt(root, 1)
    first.write_file("state/n", "begun")
    original_put = CheckpointStore.put

    def copy_growing_file(*args: object, **named: object) -> object:
        with (first.out / "state" / "n").open("a") as file:
            file.write(" and more")
        return original_put(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(CheckpointStore, "put", copy_growing_file)
    first.keep_checkpoint()
    assert first.notes == ["a checkpoint was left out: 'state/n' was written to, not renamed"]
    assert list_log_files(root) == []


def test_checkpoint_has_the_files_of_a_single_moment(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that the tool renames during the copy belong to the next checkpoint."""
    first = StandaloneAttempt(root, 1)
    first.write_file("state/a", "a1")
    first.write_file("state/b", "b1")
    original_put = CheckpointStore.put

    def copy_while_tool_runs(*args: object, **named: object) -> object:
        first.write_file("state/a", "a2")
        first.write_file("state/b", "b2")
        return original_put(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(CheckpointStore, "put", copy_while_tool_runs)
    first.keep_checkpoint()
    assert StandaloneAttempt(root, 2).restore_checkpoint() == {"state/a": "a1", "state/b": "b1"}


def test_files_renamed_during_the_search_are_searched_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = StandaloneAttempt(root, 1)
    first.write_file("state/a", "a1")
    first.write_file("state/b", "b1")
    search, found_paths = matching_files._Search._add, list[object]()

    def rename_before_search(*args: Any) -> None:
        search(*args)
        if not found_paths:
            first.write_file("state/a", "a2")
            first.write_file("state/b", "b2")
        found_paths.append(args)

    monkeypatch.setattr(matching_files._Search, "_add", rename_before_search)
    first.keep_checkpoint()
    assert StandaloneAttempt(root, 2).restore_checkpoint() == {"state/a": "a2", "state/b": "b2"}


def test_failing_storage_does_not_fail_the_job(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    (root / "logs").write_text("no folder")
    first.write_file("state/n", "1")
    first.keep_checkpoint()
    assert [note for note in first.notes if "a checkpoint could not be kept" in note]


def test_checkpoints_of_different_jobs_are_separate(root: Path) -> None:
    for seq in (1, 11):
        one = StandaloneAttempt(root, 1, seq=seq)
        one.write_file("state/n", str(seq))
        one.keep_checkpoint()
    assert StandaloneAttempt(root, 2, seq=1).restore_checkpoint() == {"state/n": "1"}
    remove_job_checkpoints(make_url(root), 1, 2, remove)
    assert list_log_files(root) == ["00000011.1-checkpoint-list.0.json", "00000011.1-checkpoint.0"]


def test_all_checkpoint_files_of_a_job_are_removed(root: Path) -> None:
    first = StandaloneAttempt(root, 1)
    for number in range(3):
        first.write_file("state/n", str(number))
        first.keep_checkpoint()
    second = StandaloneAttempt(root, 2)
    second.write_file("state/n", "second")
    second.keep_checkpoint()
    for name in ("1-checkpoint.3", "1-checkpoint.4", "3-checkpoint.0"):
        (root / "logs" / f"00000007.{name}").write_text("cut off")
    index = root / "logs" / "00000007.1-checkpoint-list.0.json"
    checkpoint = KeptCheckpoint.model_validate_json(index.read_bytes())
    (root / "logs" / "00000007.1-checkpoint.0").write_text("not removed yet")
    assert checkpoint.spent == [0]
    remove_job_checkpoints(make_url(root), 7, 3, remove)
    assert list_log_files(root) == []
