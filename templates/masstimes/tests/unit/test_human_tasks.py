"""Candidates become items, and answers to items become labelled candidates."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from masstimes.classifier.examples import read_labelled_examples
from masstimes.human_tasks import answers_command, items_command

from sluice.contracts.human_tasks.annotation import AnswerFile, AnswerInFile
from templates.masstimes.tests.unit.contexts import list_candidates, write


def make_sites(*numbers: int) -> list[dict[str, Any]]:
    """Return this many candidates for each site."""
    return [
        line
        for site, number in enumerate(numbers)
        for line in list_candidates(" ".join(["7:00"] * number), site=f"{site}.pl")
    ]


def read_items(
    folder: Path, lines: list[dict[str, Any]], *options: str
) -> dict[str, dict[str, Any]]:
    """Return the items by their file names."""
    source = write(folder / "candidates.jsonl", lines)
    out = folder / f"items{'-'.join(options)}"
    assert items_command.main([str(source), "--out", str(out), *options]) == 0
    return {path.name: json.loads(path.read_bytes()) for path in sorted(out.iterdir())}


def test_item_shows_its_hour_and_keeps_the_fields_of_the_candidate(tmp_path: Path) -> None:
    [line] = list_candidates("Msza św. o 7:00, w kaplicy", site="p.pl")
    [item] = read_items(tmp_path, [line]).values()
    begin, end = item["mark"]
    assert item["text"][begin:end] == "7:00"
    assert item["title"] == "p.pl"
    assert line.items() <= item.items()


def test_sample_is_spread_evenly_over_the_sites(tmp_path: Path) -> None:
    sample = read_items(tmp_path, make_sites(50, 2, 9), "--limit", "14")
    assert Counter(item["domain"] for item in sample.values()) == {"0.pl": 6, "1.pl": 2, "2.pl": 6}


def test_sample_depends_on_the_seed_and_names_do_not(tmp_path: Path) -> None:
    one, same, other = (
        read_items(tmp_path, make_sites(50, 50), "--limit", "20", "--seed", seed)
        for seed in ("1", "01", "2")
    )
    assert one == same
    assert one.keys() != other.keys()
    assert one.items() <= read_items(tmp_path, make_sites(50, 50)).items()


def test_duplicate_candidates_become_one_item(tmp_path: Path) -> None:
    assert len(read_items(tmp_path, make_sites(3) * 2)) == 3


def test_files_without_candidates_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = [write(tmp_path / f"candidates-{number}.jsonl", []) for number in range(6)]
    full = write(tmp_path / "full.jsonl", make_sites(2))
    arguments = [*map(str, [full, *empty]), "--out", str(tmp_path / "out")]
    assert items_command.main(arguments) == 0
    names = ", ".join(f"candidates-{number}.jsonl" for number in range(5))
    messages = capsys.readouterr().err.splitlines()
    assert messages == [
        "mt-items: 2 items of 1 sites",
        f"mt-items: 6 of 7 files have no candidate: {names} and 1 more",
    ]


def write_answer_file(path: Path, answer: str, item: Any) -> Path:
    """Write the answer file of an item as a human task does."""
    answer_in_file = AnswerInFile(
        answer=answer, browser_uid=uuid4(), answered_at=datetime.now(UTC), seconds=1.0
    )
    whole = AnswerFile(
        answer=answer, agreed=2, name="item.json", item=item, answers=[answer_in_file] * 2
    )
    path.write_text(whole.model_dump_json())
    return path


def test_answers_to_items_become_labelled_candidates(tmp_path: Path) -> None:
    lines = make_sites(2, 1)
    shown = read_items(tmp_path, lines).values()
    files = [
        str(write_answer_file(tmp_path / f"{number}.json", answer, item))
        for number, (item, answer) in enumerate(zip(shown, ("yes", "no", "unclear"), strict=True))
    ]
    out = tmp_path / "labelled.jsonl"
    assert answers_command.main([*files, "--out", str(out)]) == 0
    answers_by_id = {
        item["id"]: answer == "yes" for item, answer in zip(shown, ("yes", "no"), strict=False)
    }
    assert {each.id: each.is_mass for each in read_labelled_examples([out], print)} == answers_by_id


@pytest.mark.parametrize("content", [b"{", b"[]", b"{}", b'{"answer": "yes", "item": "7:00"}'])
def test_invalid_answer_file_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    path, out = tmp_path / "a.json", tmp_path / "out.jsonl"
    path.write_bytes(content)
    assert answers_command.main([str(path), "--out", str(out)]) == 65
    assert f"mt-answers: {path}: this is not an answer to an item" in capsys.readouterr().err
    assert not out.exists()
