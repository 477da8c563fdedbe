"""Entry point of ``sluice-pilot`` and ``python -m pilot``."""

import sys

from sluice.process.garbage_collection import look_for_none


def main(arguments: list[str] | None = None) -> int:
    """Disable the garbage collector during the imports, then run ``pilot.command.main``."""
    look_for_none()
    from pilot.command import main as run  # noqa: PLC0415 - without looking for garbage in it

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
