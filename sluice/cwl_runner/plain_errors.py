"""Sentences instead of the tracebacks that cwltool logs."""

import logging

from sluice.cwl_values.cwltool_exceptions import explain_exception


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
    return explain_exception(error) or (
        f"cwltool cannot continue: {error or type(error).__name__} (--debug shows where)"
    )
