"""``python -m tests.faults --seed N``: the long run.

The report is printed and stored below ``var/faults``.
"""

import argparse
import sys
from pathlib import Path

from tests.faults.campaign import Size, run_campaign
from tests.faults.workload.work import Plan


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults", description="Work carried by a stack while faults happen"
    )
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same faults")
    parser.add_argument("--faults", type=int, default=66)
    parser.add_argument(
        "--spacing",
        type=float,
        default=3.7,
        help="seconds between the beginnings of two faults, on average",
    )
    parser.add_argument("--files", type=int, default=2000, help="of the large data set")
    parser.add_argument("--frames", type=int, default=30, help="of each of the two detector runs")
    parser.add_argument("--folder", type=Path, default=Path("var/faults"))
    arguments = parser.parse_args()
    seconds = arguments.faults * arguments.spacing
    # The twenty slots have jobs of the large data set for two thirds of the faults. Then some slots
    # are idle now and then, and make duplicate attempts of slow jobs.
    pause = 7.5 * seconds / arguments.files
    size = Size(
        plan=Plan(
            files=arguments.files,
            stream=6,
            stream_files=25,
            frames=arguments.frames,
            seconds=0.9 * seconds,
            pause=pause,
            looks=6,
            look_files=10,
            stamps=24,
            stamp_files=10,
            stamp_pause=4.0,
            slow=2,  # There are fewer jobs than slots, so that idle slots make duplicate attempts.
            stamp_seconds=seconds,  # A tool is running whenever a fault needs one.
        ),
        faults=arguments.faults,
        spacing=arguments.spacing,
        work_limit=seconds + 900,
        rest_limit=180,
    )
    folder: Path = arguments.folder.resolve()
    report = run_campaign(folder / "run", size, seed=arguments.seed)
    path = folder / f"seed-{arguments.seed}.json"
    report.write(path)
    print("\n".join(report.format_lines()))
    print(f"report: {path}; logs: {folder / 'run' / 'stack' / 'logs'}")
    return 0 if report.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
