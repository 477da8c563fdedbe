"""What the operating system refused, in words: Python shows it with its number, as in
``[Errno 2]``."""


def reason_of(error: Exception) -> str:
    """Return why a file, or a machine, cannot be used, without its name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def sentence_of(error: OSError) -> str:
    """Return the name of the file, where there is one, and why it cannot be used."""
    if error.filename is None:
        return reason_of(error)
    names = (name for name in (error.filename, error.filename2) if name is not None)
    return f"{' to '.join(_shown(name) for name in names)}: {reason_of(error)}"


def _shown(name: object) -> str:
    text = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    return text if text.isprintable() else ascii(text)
