"""What is carried while faults happen: detector runs of the SPD pack and streams of small files,
with the results they must have.

The results are worked out here from the data alone, with hashlib and the pack's own programs:
nothing of the system takes part.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spd.build_events import main as spd_build_events
from spd.daq import main as spd_daq
from spd.decode import main as spd_decode
from spd.filter_events import main as spd_filter
from spd.merge_monitoring import main as spd_merge_monitoring
from spd.verify import main as spd_verify

from tests.faults.checker.expectation import INPUT, ExpectedFile, ExpectedRun, Pipeline, Step

PERIOD = "2026-A"
DIGEST_WORKFLOW = Path(__file__).with_name("digest.cwl")
SPD_WORKFLOW = Path(__file__).resolve().parents[2] / "templates" / "spd" / "workflow.cwl"

DIGEST = Pipeline(
    "digest",
    steps=(
        Step("digest", INPUT, ("digest",)),
        Step("join", "digest/digest", ("joined",), group=50),
    ),
    outputs=("join/joined",),
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
WORKFLOWS = {DIGEST.template: DIGEST_WORKFLOW, SPD.template: SPD_WORKFLOW}


@dataclass(frozen=True, slots=True)
class Arrival:
    """A data set that comes ``at`` seconds after the beginning."""

    expected: ExpectedRun
    files: Sequence[Path]
    at: float
    meta: dict[str, Any] = field(default_factory=dict)
    run: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """How much work: files of the one large data set and of each of the ``stream`` small ones,
    frames of each of the two runs, and over how many seconds it all arrives. ``pause``: seconds
    that a job of the large one takes."""

    files: int
    stream: int
    stream_files: int
    frames: int
    seconds: float
    pause: float = 0.2


def make_work(folder: Path, plan: Plan, *, seed: int) -> list[Arrival]:
    """In order of arrival."""
    arrivals = [
        digest_arrival(folder, "large", files=plan.files, at=0.0, seed=seed, pause=plan.pause)
    ]
    for number in range(plan.stream):
        at = plan.seconds * (number + 1) / (plan.stream + 1)
        arrivals.append(
            digest_arrival(
                folder, f"stream-{number:02d}", files=plan.stream_files, at=at, seed=seed
            )
        )
    arrivals.append(spd_arrival(folder, 1, frames=plan.frames, at=0.0, seed=seed))
    arrivals.append(
        spd_arrival(
            folder,
            2,
            frames=plan.frames,
            at=plan.seconds / 3,
            seed=seed,
            damaged=min(7, plan.frames),
        )
    )
    return sorted(arrivals, key=lambda arrival: arrival.at)


def digest_arrival(
    folder: Path, name: str, *, files: int, at: float, seed: int, pause: float = 0.2
) -> Arrival:
    """``pause``: seconds that the digest of each file takes."""
    place = folder / name
    place.mkdir(parents=True)
    paths = []
    for number in range(files):
        path = place / f"{name}-{number:05d}.txt"
        path.write_text(f"{seed} {name} {number}\n" * (1 + number % 7))
        paths.append(path)
    inputs = [ExpectedFile(path.name, sha256(path.read_bytes())) for path in paths]
    lines = [f"{file.sha256}  -\n" for file in inputs]
    step = DIGEST.step("join")
    assert step.group is not None
    joined = [
        ExpectedFile(
            f"{paths[start].stem}.digests",
            sha256("".join(lines[start : start + step.group]).encode()),
        )
        for start in range(0, files, step.group)
    ]
    expected = ExpectedRun(f"{seed}-{name}", DIGEST, files=inputs, outputs={"join/joined": joined})
    return Arrival(expected, paths, at, meta={"type": "digest", "pause": pause})


def spd_arrival(
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
    _succeed(spd_daq(arguments))
    paths = sorted(place.glob("*.raw"))
    refused = frozenset({f"run{number:06d}-frame{damaged:06d}.raw"} if damaged else ())
    expected = ExpectedRun(
        f"{seed}-run-{number}",
        SPD,
        files=[ExpectedFile(path.name, sha256(path.read_bytes())) for path in paths],
        outputs=_spd_outputs(
            [path for path in paths if path.name not in refused],
            number,
            folder / f"reference-{number}",
        ),
        refused=refused,
        truth=truth,
    )
    return Arrival(expected, paths, at, meta={"type": "raw", "detector": "spd"}, run=number)


def _spd_outputs(frames: Sequence[Path], run: int, scratch: Path) -> dict[str, list[ExpectedFile]]:
    """The pack's programs by hand, one after the other."""
    scratch.mkdir()
    histograms = [_spd_frame(frame, run, scratch) for frame in frames]
    group = SPD.step("merge").group
    assert group is not None
    events, monitoring = [], []
    for start in range(0, len(frames), group):
        stem = frames[start].stem
        merged = scratch / f"{stem}.monitoring.json"
        _succeed(
            spd_merge_monitoring(
                ["--out", str(merged), *map(str, histograms[start : start + group])]
            )
        )
        monitoring.append(ExpectedFile(merged.name, sha256(merged.read_bytes())))
        # ROOT files hold the time of writing and a random id: their events are compared with the
        # truth instead.
        events.append(ExpectedFile(f"{stem}.root", None))
    return {"merge/merged": events, "merge_monitoring/merged": monitoring}


def _spd_frame(frame: Path, run: int, scratch: Path) -> Path:
    at = {
        suffix: str(scratch / f"{frame.stem}.{suffix}")
        for suffix in ("hits", "events", "selected", "checked", "histograms")
    }
    _succeed(spd_decode([str(frame), "--run", str(run), "--period", PERIOD, "--out", at["hits"]]))
    _succeed(
        spd_build_events(
            [at["hits"], "--time-gap-ns", "110", "--min-hits", "6", "--out", at["events"]]
        )
    )
    limits = ["--min-multiplicity", "4", "--min-calorimeter-energy", "1500.0"]
    _succeed(spd_filter([at["events"], *limits, "--out", at["selected"]]))
    _succeed(spd_verify([at["selected"], "--out", at["checked"], "--histograms", at["histograms"]]))
    return Path(at["histograms"])


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _succeed(status: int) -> None:
    if status != 0:
        raise OSError("a program of the pack failed; see above")


def jobs_in(arrivals: Iterable[Arrival]) -> int:
    return sum(arrival.expected.jobs for arrival in arrivals)
