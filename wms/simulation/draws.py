"""Random numbers, always the same for one seed."""

import math
from collections.abc import Callable
from random import Random

from wms.simulation.scenario import Distribution

Draw = Callable[[], float]


def draw_from(distribution: Distribution, random: Random) -> Draw:
    """Return a function that draws numbers of a distribution, none below 0."""
    if distribution.uniform is not None:
        low, high = distribution.uniform
        width, one = high - low, random.random
        return lambda: low + width * one()
    if distribution.normal is not None:
        mean, deviation = distribution.normal
        gauss = random.gauss
        return lambda: max(gauss(mean, deviation), 0.0)
    if distribution.lognormal is not None:
        mean, deviation = distribution.lognormal
        square = math.log1p((deviation / mean) ** 2)
        middle, width, draw = math.log(mean) - square / 2, math.sqrt(square), random.lognormvariate
        return lambda: draw(middle, width)
    fixed = distribution.fixed or 0.0
    return lambda: fixed
