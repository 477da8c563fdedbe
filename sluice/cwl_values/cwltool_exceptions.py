"""Sentences for exceptions that cwltool neither expects nor explains."""

#: Python's message if a step scatters over null.
_NO_LIST = "object of type 'NoneType' has no len()"

#: The reason if a step scatters over null.
SCATTER_OVER_NULL = (
    "a step scatters over an input that has no value (null): give the input a list, or a default"
    " such as []"
)


def explain_exception(error: BaseException | None) -> str | None:
    """Return the reason for an exception, or None if it is not known."""
    is_null_scatter = isinstance(error, TypeError) and str(error) == _NO_LIST
    return SCATTER_OVER_NULL if is_null_scatter else None
