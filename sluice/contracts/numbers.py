"""Numbers in sentences."""


def counted(number: int, noun: str) -> str:
    """``1 file``, ``3 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def in_full(value: float) -> str:
    """Whole numbers with all their digits (``90000000``), others with six (``0.125``)."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:g}"
