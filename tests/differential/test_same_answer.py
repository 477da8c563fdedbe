"""Sluice and cwltool give the same files with the same names in the same order."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.differential.answers import Answer, convert_output_object, run_with_sluice_async
from tests.differential.input_texts import TEXTS
from tests.differential.reference import CwltoolProcess, make_job_order
from tests.e2e.systems import LiveSystem

pytestmark = [
    pytest.mark.long("planner, linker and pilot have tests of each feature"),
    pytest.mark.xdist_group("differential"),
]

TEMPLATES = sorted((Path(__file__).parent / "templates").glob("*.cwl"))
#: Number of templates that run at the same time.
BATCH_SIZE = 4


#: Parameters by template, for templates that have parameters.
PARAMS: Mapping[str, Mapping[str, Any]] = {
    "bindings": {"words": ["x y", "z"], "share": 1.5e-7},
    "branches": {"fast": False},
    "nested-crossproducts": {"counts": [2, 1]},
    "crossproducts": {"counts": [2, 1], "words": ["p", "q r"], "none": []},
    "filter": {"word": "apple"},
    "named-types": {
        "choice": {"kind": "short", "range": {"first": 1, "last": None}},
        "ranges": [{"first": 2, "last": 3}, {"first": 4, "last": 5}],
        "other": "long",
    },
    "named-types-of-files": {"options": {"count": 2, "mode": "loud"}},
    "joined-links": {"words": ["p", "q"]},
    "joined-values": {"second": "b c", "numbers": [3, 1], "number": 7},
    "nested": {"count": 2},
    "nested-over-data": {"count": 2},
    "pick-value": {"quick": True},
    "several-data-sets": {"words": ["u", "v", "w", "x", "y", "z"]},
    "sweep": {
        "counts": [3, 1, 2, 1],
        "words": ["x", "y z", "é", ""],
        "pairs": [["a", "b"], ["c"]],
        "each": ["A", "B", "C", "D", "E", "F"],
    },
    "value-from": {"title": "T"},
    "values-alone": {"counts": [3, 1, 2], "words": ["x", "y z", "é"], "most": 4},
    "when": {"wanted": True},
    "parameters": {"share": 0.25, "loud": True, "words": ["x", "y z"], "note": None},
}


#: Contents of parameters that are files, by template.
FILES: Mapping[str, Mapping[str, str]] = {
    "file-fields": {"title": "A title\n"},
    "joined-links": {"extra": "z\ny\n"},
    "file-parameters": {"words": "apple\nfig\n", "title": "T\n"},
    "joined-values": {"left": "a b\n", "right": "c\n"},
}
#: Additional data sets by template, with their numbers of files.
DATA_SETS: Mapping[str, Mapping[str, int]] = {"several-data-sets": {"mates": 6, "few": 2}}


def _make_entry_kinds(folder: Path) -> Mapping[str, Any]:
    """Return a directory, a file with secondary files, and lists of both."""
    folder.mkdir()
    trees = _write_directories(folder / "trees")
    marked = _write_texts_with_lengths(folder / "marked")
    for path in marked:
        path.with_name(f"{path.name}.idx").write_text(f"of {path.name}\n")
    objects = [_describe_entry(path) for path in marked]
    return {
        "tree": _describe_entry(trees[-1]),
        "index": objects[1],
        "marked": objects,
        "trees": [_describe_entry(path) for path in reversed(trees)],
    }


def _describe_entry(path: Path) -> dict[str, Any]:
    return {"class": "Directory" if path.is_dir() else "File", "location": path.as_uri()}


def _make_values_with_files(folder: Path) -> Mapping[str, Any]:
    """Return a record, unions and lists of lists with files."""
    files = [_describe_entry(path) for path in _write_texts(folder)]
    return {
        "sample": {"label": "blood", "reads": files[:2]},
        "either": files[2],
        "other": "a text",
        "rows": [files[:1], files[3:5]],
    }


def _make_lists_with_files(folder: Path) -> Mapping[str, Any]:
    """Return lists of records, lists and unions, some of whose items have no files."""
    files = [_describe_entry(path) for path in _write_texts(folder)]
    return {
        "samples": [
            {"label": "blood", "reads": files[0]},
            {"label": "none", "reads": None},
            {"label": "bone", "reads": files[1]},
        ],
        "rows": [files[:2], [], files[3:4]],
        "either": ["a text", files[2]],
    }


def _make_record_of_files(folder: Path) -> Mapping[str, Any]:
    one, two, *_ = map(_describe_entry, _write_texts(folder))
    return {"pair": {"one": one, "two": two}}


#: Functions that make parameters with files or directories, by template.
OBJECTS: Mapping[str, Callable[[Path], Mapping[str, Any]]] = {
    "joined-links": _make_record_of_files,
    "kinds-of-parameters": _make_entry_kinds,
    "lists-of-records": _make_lists_with_files,
    "values-with-files": _make_values_with_files,
    "whole": lambda folder: {
        "sample": {"pages": [_describe_entry(path) for path in _write_texts(folder)]}
    },
}


def _write_texts(folder: Path) -> list[Path]:
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return [folder / name for name in TEXTS]


def _write_texts_with_lengths(folder: Path) -> list[Path]:
    """Return the texts, each with its length and some with a note as secondary files."""
    files = _write_texts(folder)
    for number, path in enumerate(files):
        path.with_name(f"{path.name}.len").write_text(str(path.stat().st_size))
        if number % 2:
            path.with_suffix(".note").write_text(f"note {number}")
    return files


def _write_directories(folder: Path) -> list[Path]:
    for number in range(3):
        _write_texts_into(
            folder / f"tree-{number}", "one.txt", *(f"deep/{n}.txt" for n in range(number))
        )
    return sorted(folder.iterdir())


def _write_texts_into(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{folder.name} {name}\n")


#: Functions that make the data set, by template, for those that do not use the texts.
INPUTS: Mapping[str, Callable[[Path], list[Path]]] = {
    "values-alone": lambda folder: [],
    "lists-of-records": lambda folder: [],
    "first-secondary": _write_texts_with_lengths,
    "first-directories": _write_directories,
}


@dataclass(frozen=True, slots=True)
class RunnerInputs:
    """The inputs of both runners: a template, files, parameters, and a working folder."""

    template: Path
    files: list[Path]
    params: Mapping[str, Any]
    folder: Path


@dataclass(frozen=True, slots=True)
class RunnerAnswers:
    """The answer of each runner, or its error."""

    expected: Answer | BaseException
    actual: Answer | BaseException


@pytest.fixture(scope="module")
def runner_answers(
    system: LiveSystem, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Mapping[Path, RunnerAnswers]:
    """Compute the answers for the selected templates, with both runners in parallel."""
    items = [
        item
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.path == request.path
    ]
    folder = tmp_path_factory.mktemp("same-answer")
    cases = [_prepare_case(Path(str(item.callspec.params["template"])), folder) for item in items]
    with CwltoolProcess() as reference, ThreadPoolExecutor(1) as executor:
        answers = executor.submit(lambda: [_run_with_cwltool(reference, case) for case in cases])
        our_answers = asyncio.run(_run_with_sluice(system.url, cases))
        both = zip(cases, answers.result(), our_answers, strict=True)
        return {case.template: RunnerAnswers(expected, answer) for case, expected, answer in both}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_template_gives_the_same_answer_as_cwltool(
    template: Path, runner_answers: Mapping[Path, RunnerAnswers]
) -> None:
    pair = runner_answers[template]
    for answer in (pair.expected, pair.actual):
        if isinstance(answer, BaseException):
            raise answer
    assert isinstance(pair.expected, Mapping)
    assert any(pair.expected.values()), "a template without outputs on these files proves nothing"
    assert pair.actual == pair.expected


def _prepare_case(template: Path, parent_folder: Path) -> RunnerInputs:
    folder = parent_folder / template.stem
    folder.mkdir()
    files = INPUTS.get(template.stem, _write_texts)(folder / "in")
    params = _write_file_objects(FILES.get(template.stem, {}), folder / "given")
    sets = {
        name: _make_entries(name, many, folder / name)
        for name, many in DATA_SETS.get(template.stem, {}).items()
    }
    objects = OBJECTS[template.stem](folder / "objects") if template.stem in OBJECTS else {}
    return RunnerInputs(
        template, files, {**PARAMS.get(template.stem, {}), **params, **sets, **objects}, folder
    )


def _run_with_cwltool(reference: CwltoolProcess, case: RunnerInputs) -> Answer | Exception:
    try:
        return convert_output_object(
            reference.run(
                case.template, {**make_job_order(case.files), **case.params}, folder=case.folder
            )
        )
    except Exception as error:
        return error


async def _run_with_sluice(url: str, cases: Sequence[RunnerInputs]) -> list[Answer | BaseException]:
    semaphore = asyncio.Semaphore(BATCH_SIZE)

    async def run_case(case: RunnerInputs) -> Answer:
        async with semaphore:
            return await run_with_sluice_async(url, case.template, case.files, case.params)

    return await asyncio.gather(*map(run_case, cases), return_exceptions=True)


def _make_entries(name: str, files: int, folder: Path) -> list[Any]:
    texts = {f"{name}-{number}": f"{name} {number}\n" for number in range(files)}
    return list(_write_file_objects(texts, folder).values())


def _write_file_objects(texts: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """Write the texts, and return CWL File objects by name."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return {name: {"class": "File", "location": f"file://{folder}/{name}.txt"} for name in texts}
