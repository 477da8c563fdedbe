"""`ocr-check-config` checks that pero-ocr accepts a configuration, before it is uploaded."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pack_command import Parser, run_command

STAGES = ("layout", "transcribe")


def _work(arguments: argparse.Namespace) -> None:
    from ocr.stages import load_stage, read_stages  # noqa: PLC0415 - `--help` needs no pero-ocr

    for stage in arguments.stage or read_stages(arguments.config):
        print(f"{arguments.config}: {stage}: {load_stage(stage, arguments.config, 1).describe()}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ocr-check-config` and return its exit code."""
    parser = Parser(
        prog="ocr-check-config",
        description="Load a configuration as the tools do; 78 and a sentence if that fails.",
    )
    parser.add_argument("config", type=Path, help="folder with config.ini and its models")
    parser.add_argument(
        "--stage",
        choices=STAGES,
        action="append",
        help="stage that it is for; default: all that its config.ini runs",
    )
    return run_command(parser, _work, argv)
