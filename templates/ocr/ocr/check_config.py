"""`ocr-check-config` checks that pero-ocr accepts a configuration, before it is uploaded."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from sluice.packs.programs import Parser, run_command

STAGES = ("layout", "transcribe")


def _work(arguments: argparse.Namespace) -> None:
    from ocr.stages import load_stage, read_stages  # noqa: PLC0415 - `--help` needs no pero-ocr

    for stage in arguments.stage or read_stages(arguments.config):
        print(f"{arguments.config}: {stage}: {load_stage(stage, arguments.config, 1).describe()}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ocr-check-config` and return its exit code."""
    parser = Parser(
        prog="ocr-check-config",
        description="Check a configuration by loading it as the tools do; if pero-ocr refuses it,"
        " print the reason and exit with 78.",
    )
    parser.add_argument(
        "config", type=Path, help="Folder with config.ini and the models that it names"
    )
    parser.add_argument(
        "--stage",
        choices=STAGES,
        action="append",
        help="Check the configuration for this stage; repeatable (default: all stages that its"
        " config.ini configures)",
    )
    return run_command(parser, _work, argv)
