"""Conversion of all photos to 8-bit red, green and blue in the colour space sRGB."""

import io

from PIL import Image, ImageCms

#: The background of transparent photos.
BACKGROUND = (255, 255, 255)


def to_rgb(image: Image.Image) -> Image.Image:
    """Return the image in 8-bit sRGB.

    Grey of 16 bits keeps its upper 8. Grey of 32 bits or real numbers is scaled from its darkest to
    its brightest value. Transparent parts get a white background. Other colour spaces are converted
    by their ICC profile.
    """
    if image.mode.startswith("I;16"):
        return _stretch_grey(image.convert("I"), 0, 0xFFFF)
    if image.mode in {"I", "F"}:
        darkest, brightest = image.getextrema()
        return _stretch_grey(image, darkest, brightest)  # type: ignore[arg-type]
    if image.has_transparency_data:
        layered = image.convert("RGBA")
        background = Image.new("RGBA", layered.size, (*BACKGROUND, 255))
        return _convert_to_srgb(Image.alpha_composite(background, layered).convert("RGB"), image)
    if image.mode == "P":
        return _convert_to_srgb(image.convert("RGB"), image)
    return _convert_to_srgb(image, image)


def _stretch_grey(image: Image.Image, darkest: float, brightest: float) -> Image.Image:
    """Return a grey image with values from `darkest` to `brightest` scaled to 0 to 255."""
    scale = 255 / (brightest - darkest) if brightest > darkest else 0.0
    values = image.convert("F").point(lambda value: value * scale - darkest * scale)
    return values.convert("L").convert("RGB")


def _convert_to_srgb(image: Image.Image, original: Image.Image) -> Image.Image:
    profile = original.info.get("icc_profile")
    if profile:
        try:
            converted = ImageCms.profileToProfile(
                image,
                ImageCms.ImageCmsProfile(io.BytesIO(profile)),
                ImageCms.createProfile("sRGB"),
                outputMode="RGB",
            )
        except (ImageCms.PyCMSError, OSError):
            converted = None  # damaged, or for another kind of pixels
        if converted is not None:
            return converted
    return image.convert("RGB")
