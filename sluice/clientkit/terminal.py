"""Display of foreign text, without effects on the terminal."""

import codecs
from collections.abc import Callable
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment

from sluice.text.visible_text import visible


def console(**options: Any) -> Console:
    """Return a console that prints strings without markup.

    At a terminal, it shows control characters as symbols. It does not change them in files and
    pipes.
    """
    new_console = Console(highlight=False, soft_wrap=True, markup=False, **options)
    if new_console.is_terminal or new_console.file.isatty():
        new_console.push_render_hook(_EscapeControlCharacters())
    return new_console


def byte_writer(output: TextIO) -> Callable[[bytes], None]:
    """Return a function that writes bytes to an output by the same rule, piece by piece."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(piece: bytes) -> None:
        if output.isatty():
            output.write(visible(decoder.decode(piece)))
        else:
            output.buffer.write(piece)
        output.flush()

    return write


class _EscapeControlCharacters(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_RenderState(renderable) for renderable in renderables]


class _RenderState:
    def __init__(self, inner: ConsoleRenderable) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._inner, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
