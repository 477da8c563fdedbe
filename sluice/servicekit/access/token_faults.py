"""Faults of signed tokens, in words."""

from joserfc.errors import BadSignatureError, JoseError

#: The exceptions that joserfc raises for malformed tokens.
MALFORMED = (JoseError, ValueError, TypeError, KeyError, RecursionError)


def describe_fault(error: BaseException) -> str:
    """Return what is wrong with a token, without the words of the library."""
    if isinstance(error, BadSignatureError):
        return "its signature is wrong"
    return "it is malformed"
