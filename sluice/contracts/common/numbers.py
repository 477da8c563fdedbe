"""Numbers in sentences."""


def format_count(
    number: int, noun: str, plural: str | None = None, *, grouped: bool = False
) -> str:
    """Return a number with its noun, such as ``1 file`` or ``3 files``.

    Args:
        number: The number.
        noun: The singular.
        plural: The plural. Defaults to the singular with an ``s``.
        grouped: Whether narrow spaces separate thousands.
    """
    digits = number_text(number) if grouped else str(number)
    return f"{digits} {noun if number == 1 else plural or noun + 's'}"


def number_text(number: int) -> str:
    """Return a number with narrow spaces between thousands."""
    return f"{number:,}".replace(",", "\u202f")


def conjugate(number: int, verb: str) -> str:
    """Return a regular verb as it follows a count: ``waits`` after one, else ``wait``."""
    return f"{verb}s" if number == 1 else verb


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


def seconds_text(seconds: float) -> str:
    """Return a duration: ``0 s``, ``250 ms``, ``4.2 s``, ``1.5 min``, ``2.5 h``."""
    if seconds == 0:
        return "0 s"
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    for unit, unit_seconds in (("h", 3600.0), ("min", 60.0)):
        if seconds >= unit_seconds:
            return f"{seconds / unit_seconds:.3g} {unit}"
    return f"{seconds:.3g} s"
