"""Defects of printed pages, from their use and from scanning."""

import math
from collections.abc import Callable
from random import Random

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

Grey = NDArray[np.uint8]


def _add_noise(pixels: Grey, random: Random) -> Grey:
    """Add the grain of a sensor, and specks of dust."""
    generator = np.random.Generator(np.random.PCG64(random.getrandbits(64)))
    grain = generator.normal(0.0, random.uniform(8.0, 16.0), pixels.shape)
    noisy = np.clip(pixels + grain, 0, 255)
    specks = generator.random(pixels.shape) < 0.0015
    noisy[specks] = generator.integers(0, 256, int(specks.sum()))
    return noisy.astype(np.uint8)


def _skew(pixels: Grey, random: Random) -> Grey:
    """Turn the page by up to one degree."""
    angle = random.choice((-1, 1)) * random.uniform(0.2, 1.0)
    background = int(pixels[0, 0])
    turned = Image.fromarray(pixels).rotate(angle, Image.Resampling.BICUBIC, fillcolor=background)
    return np.asarray(turned)


def _add_stains(pixels: Grey, random: Random) -> Grey:
    """Add rings, spots and a fold."""
    height, width = pixels.shape
    shade = Image.new("L", (width, height), 255)
    pen = ImageDraw.Draw(shade)
    for _ in range(random.randint(2, 5)):
        x, y, radius = random.randrange(width), random.randrange(height), random.randint(40, 160)
        box = (x - radius, y - radius * random.uniform(0.6, 1.0), x + radius, y + radius)
        tone = random.randint(150, 225)
        if random.random() < 0.5:
            pen.ellipse(box, outline=tone, width=random.randint(6, 16))
        else:
            pen.ellipse(box, fill=tone)
    fold = random.randrange(height // 4, height * 3 // 4)
    slope = math.tan(math.radians(random.uniform(-1, 1))) * width
    pen.line((0, fold, width, fold + slope), fill=200, width=3)
    soft = np.asarray(shade.filter(ImageFilter.GaussianBlur(3)), dtype=np.uint16)
    return (pixels * soft // 255).astype(np.uint8)


BLEMISHES: dict[str, Callable[[Grey, Random], Grey]] = {
    "noise": _add_noise,
    "skew": _skew,
    "stains": _add_stains,
}
