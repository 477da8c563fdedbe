"""Checks of templates: each check adds errors or warnings and changes nothing else."""
