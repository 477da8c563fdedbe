"""Makes the generated part of ``docs/`` from the code itself."""
