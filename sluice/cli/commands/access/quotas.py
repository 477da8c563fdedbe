"""Quotas on the command line, and quotas and their use in words."""

from typing import Annotated

import typer

from sluice.contracts.access.quotas import UNBOUNDED, Quantity, Quota, Quotas
from sluice.contracts.common.numbers import size_text
from sluice.text.visible_text import quoted

Chains = Annotated[
    str | None, typer.Option(metavar="N|none", help="The maximum number of chains at a time.")
]
Data = Annotated[
    str | None, typer.Option(metavar="SIZE|none", help="The maximum amount of data, such as 20GB.")
]
Files = Annotated[
    str | None, typer.Option(metavar="N|none", help="The maximum number of files, such as 2M.")
]
Waiting = Annotated[
    str | None,
    typer.Option(metavar="N|none", help="The maximum number of jobs that wait for a pilot."),
]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}


def parse_quotas(
    *, chains: str | None, data: str | None, files: str | None, waiting: str | None
) -> dict[str, int | str]:
    """Return the fields of ``SetQuotas`` for the options that the user gave.

    Raises:
        typer.BadParameter: An amount is malformed.
    """
    texts = {
        Quantity.CHAINS: chains,
        Quantity.BYTES: data,
        Quantity.FILES: files,
        Quantity.WAITING: waiting,
    }
    return {str(each): parse_amount(text) for each, text in texts.items() if text is not None}


def parse_amount(text: str) -> int | str:
    """Return the number that ``20GB``, ``2M`` or ``1000`` means, in powers of ten, or ``none``.

    Raises:
        typer.BadParameter: The amount is malformed.
    """
    if text.strip().lower() == UNBOUNDED:
        return UNBOUNDED
    normalized = text.strip().lower().removesuffix("b")
    number, unit = (
        (normalized[:-1], normalized[-1]) if normalized[-1:] in _UNITS else (normalized, "")
    )
    try:
        return int(float(number) * _UNITS[unit])
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(
            f"{quoted(text)} is not an amount: write it as 20GB, 2M, 1000 or {UNBOUNDED}"
        ) from error


def quotas_text(quotas: Quotas) -> str:
    """Return quotas in words: ``3 of 10 chains, 1.5 GB, 20 files, 0 jobs waiting``."""
    return (
        f"{format_usage(quotas.chains)} chains, {format_usage(quotas.bytes, size=True)},"
        f" {format_usage(quotas.files)} files, {format_usage(quotas.waiting)} jobs waiting"
    )


def format_usage(quota: Quota, *, size: bool = False) -> str:
    """Return how much of a quota is used, as ``3 of 10``.

    Args:
        quota: The quota.
        size: Whether its numbers are bytes.
    """
    used, limit = (
        ("" if number is None else size_text(number) if size else str(number))
        for number in (quota.used, quota.most)
    )
    return f"{used} of {limit}" if limit else used
