"""`sluice cwl-runner`: the interface of CWL runners to a Sluice system.

Nothing is imported here, because clients without CWL's libraries use ``client_lease``.
"""
