"""The report at the end of the demonstration, on the terminal and in `summary.json`."""

from collections.abc import Mapping, Sequence
from typing import Any

from ocr.demo_volume import ProcessedVolume
from sluice.clientkit.output import out, print_table
from sluice.contracts.common.states import ChainState

#: The allowed share of wrong characters on clean pages.
MAX_ERROR_RATE = 0.02


def summarise(volumes: Sequence[ProcessedVolume], seconds: float) -> dict[str, Any]:
    """Return the content of `summary.json`.

    `cer` is the character error rate of the clean pages. `status` is `finished` if all results are
    as expected.
    """
    error_rates = _error_rates(volumes)
    pages = sum(volume.plan.pages for volume in volumes)
    failed = [page for volume in volumes for page in volume.failed_pages()]
    damaged = [page for volume in volumes for page in volume.plan.damaged_pages()]
    cer = error_rates.get("clean")
    is_correct = (
        all(volume.chain.state is ChainState.FINISHED for volume in volumes)
        and all(volume.in_order() for volume in volumes)
        and failed == damaged
        and cer is not None
        and cer <= MAX_ERROR_RATE
        and [volume.configuration for volume in volumes] == [1, 2]
    )
    return {
        "status": (ChainState.FINISHED if is_correct else ChainState.FAILED).value,
        "pages": pages,
        "failed_pages": failed,
        "cer": cer,
        "cer_by_kind": error_rates,
        "pages_per_second": round(pages / seconds, 3),
        "model_loads": sum(volume.loads for volume in volumes),
        "seconds": round(seconds, 2),
        "volumes": [
            {
                "name": volume.plan.name,
                "pages": volume.plan.pages,
                "configuration": f"ocr-layout@{volume.configuration}",
                "files": [
                    {"path": str(output.path), "sha256": output.checksum.removeprefix("sha256:")}
                    for output in volume.outputs
                ],
                "seconds": round(volume.seconds, 2),
            }
            for volume in volumes
        ],
    }


def _error_rates(volumes: Sequence[ProcessedVolume]) -> dict[str, float]:
    """Return the share of wrong characters by kind of page."""
    sums: dict[str, tuple[int, int]] = {}
    for volume in volumes:
        for kind, counts in volume.kinds.items():
            errors, characters = sums.get(kind, (0, 0))
            sums[kind] = (errors + counts["errors"], characters + counts["characters"])
    return {kind: round(errors / characters, 5) for kind, (errors, characters) in sums.items()}


def print_report(volumes: Sequence[ProcessedVolume], summary: Mapping[str, Any]) -> None:
    """Print tables of steps, volumes and kinds of pages, and the reasons of failures."""
    out.print()
    print_table(
        ["volume", "step", "state", "jobs", "failed"],
        [
            (
                volume.plan.name,
                task.step,
                task.state.value,
                *((task.jobs.total, task.jobs.failed) if task.jobs else ("", "")),
            )
            for volume in volumes
            for task in volume.tasks
        ],
        empty="no step was started",
    )
    for volume in volumes:
        for step, job in volume.failures:
            out.print(f"\n{volume.plan.name}, {step}, {', '.join(job.inputs[:1])}: {job.message}")
        if volume.chain.state is not ChainState.FINISHED:
            out.print(f"\n{volume.plan.name} {volume.chain.state.value}: {volume.chain.reason}")
    out.print()
    first = min(volume.started for volume in volumes)
    print_table(
        ["volume", "pages", "failed", "layout's configuration", "loads", "from", "to (seconds)"],
        [
            (
                volume.plan.name,
                volume.plan.pages,
                len(volume.failed_pages()),
                f"version {volume.configuration}",
                volume.loads,
                round(volume.started - first, 1),
                round(volume.ended - first, 1),
            )
            for volume in volumes
        ],
        empty="no volume",
    )
    out.print()
    print_table(
        ["kind of page", "characters wrong"],
        [(kind, f"{error_rate:.2%}") for kind, error_rate in summary["cer_by_kind"].items()],
        empty="no page was transcribed",
    )
    out.print(
        f"{summary['status']}: {summary['pages']} pages in {summary['seconds']:.0f} s,"
        f" {summary['pages_per_second']:.2f} a second, {summary['model_loads']} loads"
    )
