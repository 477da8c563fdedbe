"""Sentences instead of the tracebacks that cwltool logs."""

import logging

#: Python's message if a step scatters over null.
_NO_LIST = "object of type 'NoneType' has no len()"


class PlainErrors(logging.Filter):
    """Replaces tracebacks of unhandled exceptions by sentences, except with ``--debug``."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without its traceback."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not logging.getLogger("cwltool").isEnabledFor(logging.DEBUG):
            record.exc_info = record.exc_text = None
            record.msg, record.args = sentence_of_exception(error), ()
        return True


def sentence_of_exception(error: BaseException) -> str:
    """Return why a workflow cannot continue."""
    if isinstance(error, TypeError) and str(error) == _NO_LIST:
        return (
            "a step scatters over an input that has no value (null): give the input a list, or a"
            " default such as []"
        )
    return f"cwltool cannot continue: {error or type(error).__name__} (--debug shows where)"
