"""The command ``sluice``."""

import sys


def main() -> None:
    """`sluice cwl-runner` stands in for other runners, and must start as fast as they: no other command is imported then."""
    if sys.argv[1:2] == ["cwl-runner"]:
        from sluice.cli.cwl_runner import main as run_cwl  # noqa: PLC0415

        sys.exit(run_cwl(sys.argv[2:]))
    from sluice.cli.app import app  # noqa: PLC0415

    app()


if __name__ == "__main__":
    main()
