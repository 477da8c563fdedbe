"""Ways to launch pilots (``python -m pilot``, ``sluice-pilot``), a module for each."""
