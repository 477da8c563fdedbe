"""What is asked for the workflow and its steps: extension fields (``sluice:…``), requirements and
hints."""
