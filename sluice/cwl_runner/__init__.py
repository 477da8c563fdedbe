"""``sluice cwl-runner``: the interface of CWL runners, with a Sluice system underneath.

Only what a quick start needs is imported here; the rest where a process asks for it.
"""

from sluice.cwl_runner.command import main

__all__ = ["main"]
