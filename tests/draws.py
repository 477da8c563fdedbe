"""How many random examples tests draw: in ``make test`` a few, each time the same; in ``make
test-long`` many, each time others.

A failure that a random draw finds is kept as an ``@example`` of its test.
"""

from hypothesis import settings

#: Times as many as usual are drawn by ``make test-long``.
LONGER = 20
_USUAL, _LONG = "usual", "long"

settings.register_profile(_USUAL, derandomize=True, database=None, deadline=None)
settings.register_profile(_LONG, max_examples=100 * LONGER, deadline=None, print_blob=True)


def draw_the_same_each_time() -> None:
    """Unless ``--hypothesis-profile`` says otherwise; before a module with tests is imported."""
    settings.load_profile(_USUAL)


def examples(usual: int) -> int:
    """How many a test draws that does with fewer than Hypothesis draws by itself, or needs more."""
    return usual * LONGER if settings.get_current_profile_name() == _LONG else usual
