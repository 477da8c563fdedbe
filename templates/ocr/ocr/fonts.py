"""The fonts of generated scans, from Debian packages."""

from pathlib import Path

from PIL import ImageFont

from sluice.packs.programs import CommandError

FOLDER = Path("/usr/share/fonts/truetype")

#: Fonts by Debian package. Each font has all characters of the alphabet.
PACKAGES: dict[str, tuple[str, ...]] = {
    "fonts-dejavu-core": (
        "dejavu/DejaVuSans.ttf",
        "dejavu/DejaVuSerif.ttf",
        "dejavu/DejaVuSansMono.ttf",
    ),
    "fonts-liberation": (
        "liberation/LiberationSans-Regular.ttf",
        "liberation/LiberationSerif-Regular.ttf",
        "liberation/LiberationSerif-Italic.ttf",
        "liberation/LiberationMono-Regular.ttf",
    ),
    "fonts-freefont-ttf": ("freefont/FreeSerif.ttf", "freefont/FreeSans.ttf"),
}
FONTS = tuple(font for fonts in PACKAGES.values() for font in fonts)


class MissingFont(CommandError):
    """A font is not installed."""

    exit_code = 69

    def __init__(self, font: str) -> None:
        package = next(name for name, fonts in PACKAGES.items() if font in fonts)
        super().__init__(f"{FOLDER / font} is missing: apt-get install {package}")


def load_font(font: str, size: int) -> ImageFont.FreeTypeFont:
    """Return one of `FONTS` in that size.

    Raises:
        MissingFont: The font is not installed; the error names its package.
    """
    if not (FOLDER / font).is_file():  # Pillow would look elsewhere
        raise MissingFont(font)
    # The basic engine draws the same pixels with and without libraqm.
    return ImageFont.truetype(FOLDER / font, size, layout_engine=ImageFont.Layout.BASIC)
