"""Numbers in sentences."""


def counted(number: int, noun: str) -> str:
    """``1 file``, ``3 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def in_full(value: float) -> str:
    """Whole numbers with all their digits (``90000000``), others with six (``0.125``)."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:g}"


def size_text(size: float) -> str:
    """Bytes in decimal units: ``950 B``, ``1.2 MB``."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(size) < 999.5:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 99.5 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} PB"
