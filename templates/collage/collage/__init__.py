"""Programs of the pack `templates/collage`, which join photos side by side into one picture."""
