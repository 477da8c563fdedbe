"""``sluice cwl-runner``: the interface of CWL runners, with a Sluice system underneath.

Nothing is imported here: clients without CWL's libraries use ``client_lease``.
"""
