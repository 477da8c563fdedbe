"""Contents of the file of an item, as the page shows them."""

import base64
import json
from typing import Any

import pytest

from sluice.contracts.human_tasks.ask import Show
from wfms.ask.domain.contents import (
    ItemContent,
    UnreadableContent,
    clean,
    read_content,
    read_shown_image,
)

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def read_json_content(document: Any, show: Show = Show.TEXT) -> ItemContent:
    return read_content(json.dumps(document).encode(), show)


def test_plain_file_is_shown_as_text() -> None:
    assert read_content("o 7:00\nŚwięta".encode(), Show.TEXT) == ItemContent(text="o 7:00\nŚwięta")


def test_json_object_has_text_mark_and_title() -> None:
    content = read_json_content(
        {"text": "at 7:00 or 9:00", "mark": [3, 7], "title": "St. Anne", "id": 4}
    )
    assert (content.text, content.mark, content.title) == ("at 7:00 or 9:00", (3, 7), "St. Anne")
    assert content.item["id"] == 4


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"html": "x"}, "without a text 'text'"),
        ({"text": 7}, "without a text 'text'"),
        ({"text": "abc", "mark": [2, 4]}, "'mark' is [2, 4], not [begin, end] within its 3"),
        ({"text": "abc", "mark": [2, 2]}, "'mark'"),
        ({"text": "abc", "mark": "1-2"}, "'mark'"),
        ({"text": "abc", "title": 1}, "'title' is not text"),
        ({"text": "abc", "answer": 1}, "'answer' is not text"),
    ],
)
def test_json_object_of_another_form_is_refused(document: Any, reason: str) -> None:
    with pytest.raises(UnreadableContent) as refused:
        read_json_content(document)
    assert reason in str(refused.value)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"a\0b"])
def test_binary_file_is_refused_as_text(data: bytes) -> None:
    with pytest.raises(UnreadableContent):
        read_content(data, Show.TEXT)


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<a href='javascript:alert(1)'>x</a>",
        "<a href='https://elsewhere.test/'>x</a>",
        "<iframe src='//elsewhere.test'></iframe>",
        "<svg><script>alert(1)</script></svg>",
        "<p style='background:url(//elsewhere.test)' onclick='x()'>x</p>",
        "<form action=//elsewhere.test><input name=a></form>",
        "<style>*{background:url(//elsewhere.test)}</style>",
        "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    ],
)
def test_cleaned_html_runs_loads_and_links_nothing(html: str) -> None:
    left = clean(html).lower()
    for word in ("script", "onerror", "onclick", "href", "src", "style", "elsewhere", "form"):
        assert word not in left, left


def test_cleaned_html_keeps_its_content() -> None:
    html = "<h1>Msze</h1><table><tr><td colspan='2'>7:00</td></tr></table><b>i</b>"
    left = read_content(html.encode(), Show.HTML).html
    assert left is not None
    assert "<h1>Msze</h1>" in left
    assert '<td colspan="2">7:00</td>' in left


def test_image_type_is_recognized_by_its_content() -> None:
    assert read_content(PNG, Show.IMAGE) == ItemContent()
    assert read_shown_image(PNG) == (PNG, "image/png")
    content = read_json_content(
        {"image": base64.b64encode(PNG).decode(), "box": [0, 0, 1, 0.5]}, Show.IMAGE
    )
    assert content.box == (0, 0, 1, 0.5)
    assert "image" not in content.item


@pytest.mark.parametrize(
    "data",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>",
        b'{"image": "no base64!"}',
        b'{"image": "eA=="}',
        b'{"box": [1, 2, 3, 4]}',
    ],
)
def test_invalid_image_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableContent):
        read_content(data, Show.IMAGE)
