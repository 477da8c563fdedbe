"""`ocr-pack` copies the workflow, its tools and its configurations into a folder of the user."""

from collections.abc import Sequence

from sluice.packs.files import pack_folder, pack_main

FOLDER = pack_folder(__file__)
#: The parts of the pack besides the programs.
PARTS = ("workflow.cwl", "dummy.cwl", "tools", "config")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ocr-pack` and return its exit code."""
    return pack_main("ocr-pack", FOLDER, PARTS, argv)
