"""`ocr-pack`: the workflow, its tools and its configurations, into a folder of one's own."""

from __future__ import annotations

from collections.abc import Sequence

from pack_command.files import pack_folder, pack_main

FOLDER = pack_folder(__file__)
#: All that is no program.
PARTS = ("workflow.cwl", "dummy.cwl", "tools", "config")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `ocr-pack`."""
    return pack_main("ocr-pack", FOLDER, PARTS, argv)
