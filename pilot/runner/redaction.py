"""Redaction of secrets in the output of tools.

Only the exact values are found, and no other spelling of them.
"""

import os
import re
from collections.abc import Mapping


class Redaction:
    """Replaces values of secrets.

    ``replacements`` maps each value to its replacement. Values are searched without surrounding
    whitespace, as a shell removes a final newline.
    """

    def __init__(self, replacements: Mapping[str, str]) -> None:
        self._replacements = {
            (value.strip() or value).encode(): text.encode() for value, text in replacements.items()
        }
        self._max_length = max(map(len, self._replacements), default=0)
        longest_first = sorted(self._replacements, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, longest_first)))

    def redact_text(self, text: str) -> str:
        """Return a text without values of secrets."""
        return self.redact(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def redact(self, data: bytes) -> bytes:
        """Return bytes without values of secrets."""
        return self._redact_range(data, 0, len(data))

    def read(self, file: int, start: int, end: int) -> bytes:
        """Return the bytes of a file from ``start`` to ``end`` without values of secrets.

        A value that only starts or ends in this range is removed as a whole.

        Raises:
            OSError: The file could not be read.
        """
        first, data = self._read_around(file, start, end)
        return self._redact_range(data, start - first, end - first)

    def read_in_place(self, file: int, start: int, end: int) -> bytes:
        """Return bytes of a file with an asterisk for each byte of a value, so offsets stay valid.

        The start of a value at the end of the range is left out, as its rest may not be written
        yet.

        Raises:
            OSError: The file could not be read.
        """
        first, data = self._read_around(file, start, end)
        if not self._replacements:
            return data
        data = self._pattern.sub(lambda match: b"*" * len(match[0]), data)
        return data[start - first : max(start, end - self._measure_partial_value(data)) - first]

    def _read_around(self, file: int, start: int, end: int) -> tuple[int, bytes]:
        """Return the bytes of a range and around it, as far as a value may reach.

        Returns:
            The offset of the first byte, and the bytes.

        Raises:
            OSError: The file could not be read.
        """
        margin = max(0, self._max_length - 1)
        first = max(0, start - margin)
        return first, os.pread(file, end + margin - first, first)

    def _redact_range(self, data: bytes, start: int, end: int) -> bytes:
        if not self._replacements:
            return data[start:end]
        parts, position = [], start
        for match in self._pattern.finditer(data):
            if match.end() > position and match.start() < end:
                parts += [
                    data[position : max(position, match.start())],
                    self._replacements[match[0]],
                ]
                position = match.end()
        return b"".join([*parts, data[position : max(position, end)]])

    def _measure_partial_value(self, data: bytes) -> int:
        """Return the number of bytes at the end that may be the start of a value."""
        return max(
            (
                size
                for value in self._replacements
                for size in range(1, min(len(value), len(data) + 1))
                if data.endswith(value[:size])
            ),
            default=0,
        )


#: Redaction without any secret.
NO_REDACTION = Redaction({})
