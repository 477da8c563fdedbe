"""The command ``sluice``."""

import sys


def main() -> None:
    """`sluice cwl-runner` stands in for other runners, and must start as fast as they: no other command is imported then."""
    name = next(iter(sys.argv[1:]), None)
    if name == "cwl-runner":
        from sluice.cli.cwl_runner import main as run_cwl  # noqa: PLC0415

        sys.exit(run_cwl(sys.argv[2:]))
    from sluice.cli.app import command_line  # noqa: PLC0415

    command_line(name)()


if __name__ == "__main__":
    main()
