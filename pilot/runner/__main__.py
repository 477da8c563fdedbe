"""Entry point of ``python -m pilot.runner``, the processes of a pilot's slots."""

from sluice.process.garbage_collection import disable_garbage_collection


def main() -> None:
    """Disable the garbage collector during the imports, then run ``pilot.runner.server.main``."""
    disable_garbage_collection()
    from pilot.runner.server import main as serve  # noqa: PLC0415 - without looking for garbage in it

    serve()


if __name__ == "__main__":
    main()
