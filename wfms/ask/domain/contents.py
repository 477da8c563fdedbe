"""The part of an item that browsers show, read from its file.

Nothing in it runs, loads or navigates in a browser.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import nh3

from sluice.contracts.human_tasks.ask import Show
from sluice.text.visible_text import quoted
from wfms.ask.domain.images import MAX_PIXELS, is_complete, read_size
from wfms.ask.domain.json_values import MAX_DEPTH, trouble_in

#: Limits in bytes of a file with text, and of one with an image.
MAX_TEXT_BYTES, MAX_IMAGE_BYTES = 256 * 1024, 20 * 1024 * 1024
#: Tolerance in pixels for rounding errors in the sums of a box.
_ROUNDED = 0.001

#: First bytes of an image, and its media type.
_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
#: Tags that format text. There are no images, forms, frames and scripts among them.
_TAGS = set(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "blockquote",
        "br",
        "caption",
        "cite",
        "code",
        "col",
        "colgroup",
        "dd",
        "del",
        "dfn",
        "div",
        "dl",
        "dt",
        "em",
        "figcaption",
        "figure",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "i",
        "ins",
        "kbd",
        "li",
        "mark",
        "ol",
        "p",
        "pre",
        "q",
        "rp",
        "rt",
        "ruby",
        "s",
        "samp",
        "section",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "time",
        "tr",
        "u",
        "ul",
        "var",
        "wbr",
    ]
)
_ATTRIBUTES = {"*": {"lang", "dir", "title"}, "td": {"colspan", "rowspan"}, "th": {"colspan"}}


class UnreadableContent(Exception):
    """The content of a file cannot be shown. The message is for the author of the file."""


@dataclass(frozen=True, slots=True)
class ItemContent:
    """The content of an item.

    Attributes:
        known_answer: The known answer, if the file has one.
        item: The JSON object in the file, for the file with the answers.
    """

    text: str | None = None
    mark: tuple[int, int] | None = None
    html: str | None = None
    box: tuple[float, float, float, float] | None = None
    title: str = ""
    known_answer: str | None = None
    item: Any = None


def largest(show: Show) -> int:
    """Return the limit in bytes of a file."""
    return MAX_IMAGE_BYTES if show is Show.IMAGE else MAX_TEXT_BYTES


def read_content(data: bytes, show: Show) -> ItemContent:
    """Return what is shown of a file.

    A JSON object has ``text``, ``html`` or ``image`` (Base64). It may have ``mark`` [begin, end],
    ``box`` [left, top, width, height], ``title`` and other fields. Any other file is shown as it
    is.

    Raises:
        UnreadableContent: The content cannot be shown.
    """
    document = _parse_object(data)
    if document is not None:
        return _read_object_content(document, show)
    if show is Show.IMAGE:
        _read_complete_size(data)
        return ItemContent()
    text = _text(data)
    return ItemContent(text=text) if show is Show.TEXT else ItemContent(html=clean(text))


def clean(html: str) -> str:
    """Return HTML with harmless tags and attributes only."""
    return nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, link_rel=None, url_schemes=set())


def read_shown_image(data: bytes) -> tuple[bytes, str]:
    """Return the bytes and the media type of the image that an item shows.

    Raises:
        UnreadableContent: There is no image.
    """
    document = _parse_object(data)
    if document is not None:
        data = _decode_image(document)
    return data, media_type(data)


def _decode_image(document: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode(str(document.get("image", "")), validate=True)
    except (ValueError, binascii.Error) as error:
        raise UnreadableContent(f"'image' is not base64 ({error})") from error


def _read_complete_size(data: bytes) -> tuple[int, int]:
    """Return width and height of an image.

    Raises:
        UnreadableContent: The image is incomplete or too large.
    """
    if not is_complete(data, media_type(data)):
        raise UnreadableContent("the image is truncated")
    size = read_size(data)
    if size is None:
        raise UnreadableContent("the image has no width or height")
    width, height = size
    if width * height > MAX_PIXELS:
        raise UnreadableContent(
            f"it has {width} by {height} pixels, and at most {MAX_PIXELS} are shown"
        )
    return size


def media_type(data: bytes) -> str:
    """Return the media type of an image.

    Raises:
        UnreadableContent: The image has no supported type.
    """
    for begin, kind in _IMAGES.items():
        if data.startswith(begin):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    raise UnreadableContent("it is not an image: PNG, JPEG, GIF and WebP are shown")


def _read_object_content(document: Mapping[str, Any], show: Show) -> ItemContent:
    known_answer, title = document.get("answer"), document.get("title", "")
    if known_answer is not None and not isinstance(known_answer, str):
        raise UnreadableContent("'answer' is not text")
    if not isinstance(title, str):
        raise UnreadableContent("'title' is not text")
    if show is Show.IMAGE:
        size = _read_complete_size(_decode_image(document))
        other_fields = {key: value for key, value in document.items() if key != "image"}
        return ItemContent(
            box=_box(document.get("box"), *size),
            title=title,
            known_answer=known_answer,
            item=other_fields,
        )
    content = document.get(show.value)
    if not isinstance(content, str):
        raise UnreadableContent(f"it is a JSON object without a text {quoted(show.value)}")
    if show is Show.HTML:
        return ItemContent(
            html=clean(content), title=title, known_answer=known_answer, item=dict(document)
        )
    mark = _mark(document.get("mark"), len(content))
    return ItemContent(
        text=content, mark=mark, title=title, known_answer=known_answer, item=dict(document)
    )


def _parse_object(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object in a file, or None if the file is no JSON object.

    Raises:
        UnreadableContent: The object cannot be stored unchanged.
    """
    if data.lstrip()[:1] != b"{":
        return None
    try:
        document = json.loads(data)
    except ValueError:
        return None
    except RecursionError:
        raise UnreadableContent(f"values are nested more than {MAX_DEPTH} levels deep") from None
    if not isinstance(document, dict):
        return None
    if (trouble := trouble_in(document)) is not None:
        raise UnreadableContent(f"{trouble}: it cannot be stored unchanged")
    return document


def _text(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableContent(f"it is not valid UTF-8, from byte {error.start + 1} on") from error
    if "\0" in text:
        raise UnreadableContent("it contains a NUL character")
    return text


def _mark(value: Any, length: int) -> tuple[int, int] | None:
    match value:
        case None:
            return None
        case [int(begin), int(end)] if 0 <= begin < end <= length:
            return begin, end
        case _:
            raise UnreadableContent(
                f"'mark' is {quoted(value)}, not [begin, end] within its {length} characters"
            )


def _box(value: Any, width: int, height: int) -> tuple[float, float, float, float] | None:
    """Return the box if it is within its image of ``width`` by ``height`` pixels."""
    match value:
        case None:
            return None
        case [
            int() | float() as left,
            int() | float() as top,
            int() | float() as across,
            int() | float() as down,
        ] if (
            0 <= left < left + across <= width + _ROUNDED
            and 0 <= top < top + down <= height + _ROUNDED
        ):
            return float(left), float(top), float(across), float(down)
        case _:
            raise UnreadableContent(
                f"'box' is {quoted(value)}, not [left, top, width, height] within its {width} by"
                f" {height} pixels"
            )
