"""The entry point of the command ``sluice``, which imports nothing before it handles Ctrl-C."""

import sys


def main() -> None:
    """Run the command that the command line names. Ctrl-C ends it with status 130."""
    try:
        from sluice.cli.start import main as start  # noqa: PLC0415 - Ctrl-C may interrupt the import

        start()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
