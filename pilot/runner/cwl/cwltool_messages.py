"""Messages of cwltool, rewritten for people who know neither the pilot's folders nor cwltool."""

import re

from sluice.text.visible_text import quoted

_PATTERNS = r"""\[(?:'[^']*'|"[^"]*"|[^\]'"])*\]"""
_NOTHING_FOUND = re.compile(f"Did not find output file with glob pattern: ({_PATTERNS})")
_PORT = re.compile(r"Error collecting output for parameter '([^']*)'")
#: Dots with which cwltool indents the causes of an error.
_INDENT = re.compile(r"(?<!\S)\.{2,}(?=\w)")
_PLACE = re.compile(r"(?:file://)?/\S*\.cwl:\d+:\d+:\s*")


def clean_message(error: Exception | str) -> str:
    """Return an error of cwltool as one line without paths of temporary files."""
    text = " ".join(_PLACE.sub("", str(error)).split())
    return _INDENT.sub("", text)[:2000]


def describe_missing_output(message: str) -> str:
    """Return a sentence for an error about outputs.

    ``message`` is cwltool's message.
    """
    nothing, port = _NOTHING_FOUND.search(message), _PORT.search(message)
    where = f"output {quoted(port.group(1))}" if port else "an output"
    if nothing:
        return f"the tool wrote no file for {where}: nothing matches {nothing.group(1)}"
    return f"the tool's outputs are not as declared: {clean_message(message)}"
