"""Numbers in sentences."""


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 file`` or ``3 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def in_full(value: float) -> str:
    """Return a number as text.

    Whole numbers have all digits (``90000000``), others six (``0.125``).
    """
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:g}"


def size_text(size: float) -> str:
    """Return a size in bytes with a decimal unit, such as ``950 B`` or ``1.2 MB``."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(size) < 999.5:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 99.5 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} PB"
