"""Cursors of lists. They are opaque to callers, and only valid for the list that returned them."""

from enum import StrEnum

from sluice.contracts.common.problems import InvalidCursor


class Order(StrEnum):
    """The order of a list of data sets, as the first letter of its cursors."""

    CLOSING = "c"
    REGISTRATION = "r"
    #: By registration, newest first.
    NEWEST = "n"


def write_position(order: Order, position: int) -> str:
    """Build the cursor of a position in an order."""
    return f"{order}{position}"


def parse_position(order: Order, cursor: str | None) -> int:
    """Return the position of a cursor; 0 (before everything) without a cursor.

    Raises:
        InvalidCursor: The cursor is malformed, or belongs to a list in another order.
    """
    if not cursor:
        return 0
    digits = cursor[1:]
    if cursor[0] != order or not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise InvalidCursor(cursor)
    return int(digits)


def write_place(seq: int, name: str) -> str:
    """Build the cursor of a file's place in its data set."""
    return f"{seq}/{name}"


def parse_place(cursor: str | None) -> tuple[int, str]:
    """Return number and name of the last file of the previous page; (-1, "") without a cursor.

    Raises:
        InvalidCursor: The cursor is malformed.
    """
    if not cursor:
        return -1, ""
    digits, slash, name = cursor.partition("/")
    if not slash or not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise InvalidCursor(cursor)
    return int(digits), name
