"""Lists that end before all is shown say so, and how to go on."""

from typing import Annotated

import typer

from sluice.cli.output import err

AfterOption = Annotated[
    str | None, typer.Option(help="Go on where the list before ended, as it says.")
]


def tell_more(after: object | None) -> None:
    """``after``: where the next page begins; None on the last. On standard error, so that what is
    piped on is the list alone."""
    if after is not None:
        err.print(f"there are more: --after {after}")
