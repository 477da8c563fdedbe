"""The extension fields (``sluice:…``), requirements and hints of the workflow and its steps."""
