"""Entry point of ``sluice-pilot`` and ``python -m pilot``."""

import sys

from sluice.process.garbage_collection import disable_garbage_collection


def main(arguments: list[str] | None = None) -> int:
    """Disable the garbage collector during the imports, then run ``pilot.command.main``."""
    disable_garbage_collection()
    from pilot.command import main as run  # noqa: PLC0415 - imported without garbage collection

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
