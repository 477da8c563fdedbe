"""Ways to launch pilots (``python -m pilot``, ``sluice-pilot``), one module for each."""
