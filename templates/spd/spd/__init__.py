"""Programs of the pack `templates/spd`: simulated raw frames and the five steps that turn them into
ROOT files.

Each program is one module with a `main`; what they share is the detector's geometry (`detector`),
the raw format (`frame`), the format between steps (`blocks`) and the command line's manners
(`command`).
"""
