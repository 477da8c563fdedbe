"""Entry point of ``python -m pilot.runner``, the processes of a pilot's slots."""

from sluice.process.garbage_collection import look_for_none


def main() -> None:
    """Disable the garbage collector during the imports, then run ``pilot.runner.server.main``."""
    look_for_none()
    from pilot.runner.server import main as serve  # noqa: PLC0415 - without looking for garbage in it

    serve()


if __name__ == "__main__":
    main()
