"""Cursors of lists: opaque to callers, each good for the list that gave it alone."""

from enum import StrEnum

from sluice.contracts.problems import WrongCursor


class Order(StrEnum):
    CLOSING = "c"
    REGISTRATION = "r"
    #: Of registration, the last one first.
    NEWEST = "n"


def write_position(order: Order, position: int) -> str:
    return f"{order}{position}"


def read_position(order: Order, cursor: str | None) -> int:
    """0 (before everything) where there is no cursor. Raises ``WrongCursor``."""
    if not cursor:
        return 0
    digits = cursor[1:]
    if cursor[0] != order or not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise WrongCursor(cursor)
    return int(digits)


def write_place(seq: int, name: str) -> str:
    return f"{seq}/{name}"


def read_place(cursor: str | None) -> tuple[int, str]:
    """Place of the last file given: its seq and name; (-1, "") before the first. Raises
    ``WrongCursor``."""
    if not cursor:
        return -1, ""
    digits, slash, name = cursor.partition("/")
    if not slash or not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise WrongCursor(cursor)
    return int(digits), name
