"""Programs of the pack `templates/spd`, which filter simulated raw frames into ROOT files.

Each program is one module with a `main`: a simulation of raw frames and the five processing steps.
Shared modules are the detector's geometry (`detector`), the raw format (`frame`) and the format
between steps (`blocks`). The package `sluice.packs.programs` handles arguments and errors.
"""
