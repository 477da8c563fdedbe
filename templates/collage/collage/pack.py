"""`collage-pack` copies the workflow and its tools into a folder of the user."""

from collections.abc import Sequence

from sluice.packs.files import pack_folder, pack_main

FOLDER = pack_folder(__file__)
#: The parts of the pack besides the programs.
PARTS = ("workflow.cwl", "tools")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `collage-pack` and return its exit code."""
    return pack_main("collage-pack", FOLDER, PARTS, argv)
