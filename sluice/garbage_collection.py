"""When Python looks for garbage among what refers to itself: not while a process loads, and then
seldom."""

import gc

#: Objects more than before, after which it looks. Python's own 700 are a few requests.
_MORE = 10_000


def look_for_none() -> None:
    """To be called first: what is loaded stays, and to look through it again and again is a tenth
    of a start."""
    gc.disable()


def keep_what_is_loaded() -> None:
    """From here on it looks, among what is new: to look at all of it again and again was a sixth of
    a busy service's time."""
    gc.freeze()
    gc.set_threshold(_MORE)
    gc.enable()
