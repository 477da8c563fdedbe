"""Images that are cut off are not shown."""

import io

import pytest
from PIL import Image

from sluice.contracts.ask import Show
from wfms.ask.domain.contents import Unreadable, content_of
from wfms.ask.domain.images import is_whole

KINDS = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}


def drawn(kind: str, **more: object) -> bytes:
    out = io.BytesIO()
    picture = Image.effect_noise((200, 160), 60).convert("RGB")
    picture.save(out, kind, **more)
    return out.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_one_is_shown_and_one_that_is_cut_off_is_not(kind: str) -> None:
    data = drawn(kind)
    assert is_whole(data, KINDS[kind])
    content_of(data, Show.IMAGE)
    for part in (0.2, 0.5, 0.9):
        cut = data[: int(part * len(data))]
        assert not is_whole(cut, KINDS[kind])
        with pytest.raises(Unreadable, match="cut off"):
            content_of(cut, Show.IMAGE)


@pytest.mark.parametrize("more", [{"progressive": True}, {"exif": "thumbnail"}])
def test_photos_end_where_their_own_scan_does(more: dict[str, object]) -> None:
    """And not where that of a preview within them does."""
    if "exif" in more:
        exif = Image.Exif()
        preview = Image.new("RGB", (16, 16))
        preview.save(out := io.BytesIO(), "JPEG")
        exif[0x927C] = out.getvalue()  # what a camera's maker notes
        more = {"exif": exif}
    data = drawn("JPEG", **more)
    assert is_whole(data, KINDS["JPEG"])
    assert is_whole(data + b"what a camera adds", KINDS["JPEG"])
    assert not is_whole(data[:-100], KINDS["JPEG"])
    assert ("exif" in more) == (b"\xff\xd9" in data[:-100])


def test_what_follows_the_end_is_nobodys() -> None:
    assert is_whole(drawn("PNG") + b"more", KINDS["PNG"])
    assert is_whole(drawn("GIF") + b"\0\n", KINDS["GIF"])
