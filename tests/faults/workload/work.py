"""The work during faults: detector runs and streams of small files, with their expected results.

The results are computed from the data with hashlib and the template's own programs, without the
system.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from spd.build_events import main as spd_build_events
from spd.daq import main as spd_daq
from spd.decode import main as spd_decode
from spd.filter_events import main as spd_filter
from spd.merge_monitoring import main as spd_merge_monitoring
from spd.verify import main as spd_verify

from tests.faults.checker.expectation import (
    INPUT,
    ExpectedAnnotations,
    ExpectedFile,
    ExpectedRun,
    Limit,
    Pipeline,
    Step,
)
from tests.faults.workload import misbehaving_tool

PERIOD = "2026-A"
DIGEST_WORKFLOW = Path(__file__).with_name("digest.cwl")
STAMP_WORKFLOW = Path(__file__).with_name("stamp.cwl")
LOOK_WORKFLOW = Path(__file__).with_name("look.cwl")
SPD_WORKFLOW = Path(__file__).resolve().parents[3] / "templates" / "spd" / "workflow.cwl"
#: The marker is in the command line of each process of the warm worker only.
MARKER = f"misbehaving-tool-{uuid4()}"

DIGEST = Pipeline(
    "digest",
    steps=(
        Step("digest", INPUT, ("digest",)),
        Step("join", "digest/digest", ("joined",), group=50),
    ),
    outputs=("join/joined",),
)
STAMP = Pipeline(
    "stamp",
    steps=(
        Step("stamp", INPUT, ("stamp",)),
        Step("enter", "stamp/stamp", ("entry",), needs=("register", "entries")),
        Step("join", "enter/entry", ("joined",), group=50),
    ),
    outputs=("join/joined",),
    limits=(Limit("register", 2), Limit("entries", 1_000_000, "day")),
)
SPD = Pipeline(
    "spd",
    steps=(
        Step("decode", INPUT, ("hits",)),
        Step("build_events", "decode/hits", ("events",)),
        Step("filter_events", "build_events/events", ("selected",)),
        Step("verify", "filter_events/selected", ("checked", "histograms")),
        Step("merge", "verify/checked", ("merged",), group=25),
        Step("merge_monitoring", "verify/histograms", ("merged",), group=25),
    ),
    outputs=("merge/merged", "merge_monitoring/merged"),
)
LOOK = Pipeline("look", steps=(Step("look", INPUT, ("answer",)),), outputs=("look/answer",))
WORKFLOWS = {
    DIGEST.template: DIGEST_WORKFLOW,
    STAMP.template: STAMP_WORKFLOW,
    LOOK.template: LOOK_WORKFLOW,
    SPD.template: SPD_WORKFLOW,
}
PIPELINES = (DIGEST, STAMP, SPD, LOOK)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A data set that arrives ``at`` seconds after the start."""

    expected: ExpectedRun
    files: Sequence[Path]
    at: float
    meta: dict[str, Any] = field(default_factory=dict)
    run: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The amount of work, and the seconds over which it arrives.

    ``files`` are those of the large data set, whose jobs take ``pause`` seconds; ``stream`` data
    sets are small; both detector runs have ``frames``. ``stamps`` data sets use a warm worker for
    ``stamp_pause`` seconds a file, over ``stamp_seconds``. ``slow`` data sets come in the last
    third, with jobs of ``slow_pause`` seconds that get duplicate attempts. ``looks`` data sets are
    annotated by people.
    """

    files: int
    stream: int
    stream_files: int
    frames: int
    seconds: float
    pause: float = 0.2
    stamps: int = 1
    stamp_files: int = 5
    stamp_pause: float = 0.1
    stamp_seconds: float = 0.0
    slow: int = 0
    slow_files: int = 4
    slow_pause: float = 10.0
    looks: int = 1
    look_files: int = 6


def make_work(folder: Path, plan: Plan, *, seed: int) -> list[Arrival]:
    """Return the data sets in order of arrival."""
    arrivals = [
        make_digest_arrival(folder, "large", files=plan.files, at=0.0, seed=seed, pause=plan.pause)
    ]
    for number in range(plan.stream):
        at = plan.seconds * (number + 1) / (plan.stream + 1)
        arrivals.append(
            make_digest_arrival(
                folder, f"stream-{number:02d}", files=plan.stream_files, at=at, seed=seed
            )
        )
    for number in range(plan.slow):
        at, name = plan.seconds * (2 + number / plan.slow) / 3, f"slow-{number:02d}"
        arrivals.append(
            make_digest_arrival(
                folder, name, files=plan.slow_files, at=at, seed=seed, pause=plan.slow_pause
            )
        )
    for number in range(plan.stamps):
        at = plan.stamp_seconds * number / plan.stamps
        name = f"stamps-{number:02d}"
        arrivals.append(
            make_stamp_arrival(
                folder, name, files=plan.stamp_files, at=at, seed=seed, pause=plan.stamp_pause
            )
        )
    for number in range(plan.looks):
        at, name = plan.seconds * number / plan.looks, f"looks-{number:02d}"
        arrivals.append(make_look_arrival(folder, name, files=plan.look_files, at=at, seed=seed))
    arrivals.append(make_spd_arrival(folder, 1, frames=plan.frames, at=0.0, seed=seed))
    arrivals.append(
        make_spd_arrival(
            folder,
            2,
            frames=plan.frames,
            at=plan.seconds / 3,
            seed=seed,
            damaged=min(7, plan.frames),
        )
    )
    return sorted(arrivals, key=lambda arrival: arrival.at)


def make_digest_arrival(
    folder: Path, name: str, *, files: int, at: float, seed: int, pause: float = 0.2
) -> Arrival:
    """Return a data set; the digest of each file takes ``pause`` seconds."""
    paths, inputs = _write_small_files(folder / name, files, seed)
    joined = _expect_joined_file(
        DIGEST, "digests", inputs, [f"{file.sha256}  -\n" for file in inputs]
    )
    expected = ExpectedRun(f"{seed}-{name}", DIGEST, files=inputs, outputs={"join/joined": joined})
    return Arrival(expected, paths, at, meta={"type": "digest", "pause": pause})


def make_stamp_arrival(
    folder: Path, name: str, *, files: int, at: float, seed: int, pause: float
) -> Arrival:
    """Return a data set; the stamp of each file takes ``pause`` seconds."""
    paths, inputs = _write_small_files(folder / name, files, seed)
    stamps = [f"{file.sha256}  {file.name}\n" for file in inputs]
    entries = [f"{compute_sha256(stamp.encode())}  -\n" for stamp in stamps]
    joined = _expect_joined_file(STAMP, "entries", inputs, entries)
    expected = ExpectedRun(f"{seed}-{name}", STAMP, files=inputs, outputs={"join/joined": joined})
    return Arrival(expected, paths, at, meta={"type": "stamp", "pause": pause})


def make_look_arrival(folder: Path, name: str, *, files: int, at: float, seed: int) -> Arrival:
    """Return a data set of numbers; the title of each is the name of its file."""
    place = folder / name
    place.mkdir(parents=True)
    words, paths = dict[str, str](), list[Path]()
    for number in range(files):
        path = place / f"{name}-{number:05d}.json"
        drawn = int(compute_sha256(f"{seed} {path.name}".encode())[:8], 16)
        path.write_text(json.dumps({"title": path.name, "text": str(drawn)}))
        words[path.name] = "odd" if drawn % 2 else "even"
        paths.append(path)
    expected = ExpectedRun(
        f"{seed}-{name}",
        LOOK,
        files=_expect_same_files(paths),
        # The files contain who answered when, so that their digests are unknown.
        outputs={"look/answer": [ExpectedFile(path.name, None) for path in paths]},
        human_task=ExpectedAnnotations(words),
    )
    return Arrival(expected, paths, at, meta={"type": "look"})


def list_expected_annotations(arrivals: Iterable[Arrival]) -> dict[str, ExpectedAnnotations]:
    """Return the expected annotations by the names of files."""
    questions = [arrival.expected.human_task for arrival in arrivals]
    return {name: one for one in questions if one is not None for name in one.words}


def read_workflow(template: str) -> str:
    """Return the workflow as it is uploaded."""
    program = f"# {MARKER}\n{Path(misbehaving_tool.__file__).read_text()}"
    return WORKFLOWS[template].read_text().replace('"@program@"', json.dumps(program))


def _write_small_files(place: Path, files: int, seed: int) -> tuple[list[Path], list[ExpectedFile]]:
    place.mkdir(parents=True)
    paths = []
    for number in range(files):
        path = place / f"{place.name}-{number:05d}.txt"
        path.write_text(f"{seed} {place.name} {number}\n" * (1 + number % 7))
        paths.append(path)
    return paths, _expect_same_files(paths)


def _expect_same_files(paths: Iterable[Path]) -> list[ExpectedFile]:
    return [ExpectedFile(path.name, compute_sha256(path.read_bytes())) for path in paths]


def _expect_joined_file(
    pipeline: Pipeline, suffix: str, inputs: Sequence[ExpectedFile], lines: Sequence[str]
) -> list[ExpectedFile]:
    """Return the outputs of the step ``join``, with a line for each file of the input."""
    step = pipeline.step("join")
    assert step.group is not None
    return [
        ExpectedFile(
            f"{Path(inputs[start].name).stem}.{suffix}",
            compute_sha256("".join(lines[start : start + step.group]).encode()),
        )
        for start in range(0, len(inputs), step.group)
    ]


def make_spd_arrival(
    folder: Path, number: int, *, frames: int, at: float, seed: int, damaged: int | None = None
) -> Arrival:
    place, truth = folder / f"run-{number}", folder / f"truth-{number}.json"
    arguments = [
        "--out",
        str(place),
        "--truth",
        str(truth),
        "--run",
        str(number),
        "--frames",
        str(frames),
    ]
    arguments += [
        "--seed",
        str(100 * seed + number),
        *(["--damage", str(damaged)] if damaged else []),
    ]
    _require_success(spd_daq(arguments))
    paths = sorted(place.glob("*.raw"))
    refused = frozenset({f"run{number:06d}-frame{damaged:06d}.raw"} if damaged else ())
    expected = ExpectedRun(
        f"{seed}-run-{number}",
        SPD,
        files=_expect_same_files(paths),
        outputs=_run_spd_programs(
            [path for path in paths if path.name not in refused],
            number,
            folder / f"reference-{number}",
        ),
        invalid_files=refused,
        true_events_path=truth,
    )
    return Arrival(expected, paths, at, meta={"type": "raw", "detector": "spd"}, run=number)


def _run_spd_programs(
    frames: Sequence[Path], run: int, scratch: Path
) -> dict[str, list[ExpectedFile]]:
    """Run the template's programs directly, one after the other."""
    scratch.mkdir()
    histograms = [_run_frame_programs(frame, run, scratch) for frame in frames]
    group = SPD.step("merge").group
    assert group is not None
    events, monitoring = [], []
    for start in range(0, len(frames), group):
        stem = frames[start].stem
        merged = scratch / f"{stem}.monitoring.json"
        _require_success(
            spd_merge_monitoring(
                ["--out", str(merged), *map(str, histograms[start : start + group])]
            )
        )
        monitoring.append(ExpectedFile(merged.name, compute_sha256(merged.read_bytes())))
        # ROOT files contain the time of writing and a random id, so that their events are compared
        # with the truth instead.
        events.append(ExpectedFile(f"{stem}.root", None))
    return {"merge/merged": events, "merge_monitoring/merged": monitoring}


def _run_frame_programs(frame: Path, run: int, scratch: Path) -> Path:
    at = {
        suffix: str(scratch / f"{frame.stem}.{suffix}")
        for suffix in ("hits", "events", "selected", "checked", "histograms")
    }
    _require_success(
        spd_decode([str(frame), "--run", str(run), "--period", PERIOD, "--out", at["hits"]])
    )
    _require_success(
        spd_build_events(
            [at["hits"], "--time-gap-ns", "110", "--min-hits", "6", "--out", at["events"]]
        )
    )
    limits = ["--min-multiplicity", "4", "--min-calorimeter-energy", "1500.0"]
    _require_success(spd_filter([at["events"], *limits, "--out", at["selected"]]))
    _require_success(
        spd_verify([at["selected"], "--out", at["checked"], "--histograms", at["histograms"]])
    )
    return Path(at["histograms"])


def compute_sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _require_success(status: int) -> None:
    if status != 0:
        raise OSError("a program of the template failed; see above")


def count_jobs(arrivals: Iterable[Arrival]) -> int:
    return sum(arrival.expected.jobs for arrival in arrivals)
