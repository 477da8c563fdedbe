"""Numbers as they are written in documents, with the digits that tools get."""

from decimal import Decimal

#: The limit of whole numbers, which have 64 bits.
_LIMIT = 1 << 63


def read_number(text: str) -> float | int:
    """Return the value of a number that is written with a point or an exponent.

    It is a whole number if its digits end before the point, because a command line gets these
    digits: ``1.23e5`` becomes ``123000``, and ``1.20e1`` becomes ``12.0``.
    """
    number = float(text)
    if number == 0 or abs(number) >= _LIMIT:
        return number
    is_whole = int(Decimal(text).as_tuple().exponent) >= 0
    return int(number) if is_whole else number


def fit_whole_number(number: int) -> float | int:
    """Return a whole number of more than 64 bits as a float if that has the same digits."""
    if -_LIMIT <= number < _LIMIT:
        return number
    try:
        closest = float(number)
    except OverflowError:
        return number
    return closest if Decimal(repr(closest)) == number else number
