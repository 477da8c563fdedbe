"""Set how many random examples tests draw.

``make test`` draws a few, the same each time. ``make test-long`` draws many, others each time. A
failure that a random draw finds is kept as an ``@example`` of its test.
"""

from hypothesis import settings

#: Factor by which ``make test-long`` draws more examples.
LONG_FACTOR = 20
_USUAL, _LONG = "usual", "long"

settings.register_profile(_USUAL, derandomize=True, database=None, deadline=None)
settings.register_profile(_LONG, max_examples=100 * LONG_FACTOR, deadline=None, print_blob=True)


def use_derandomized_profile() -> None:
    """Select the profile of ``make test``.

    The option ``--hypothesis-profile`` takes precedence. Call this before a module with tests is
    imported.
    """
    settings.load_profile(_USUAL)


def count_examples(usual: int) -> int:
    """Return the number of examples for a test that draws ``usual`` of them in ``make test``."""
    return usual * LONG_FACTOR if settings.get_current_profile_name() == _LONG else usual
