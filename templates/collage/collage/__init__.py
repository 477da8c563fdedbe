"""Programs of the pack `templates/collage`: photos become one picture, side by side."""
