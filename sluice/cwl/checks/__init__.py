"""What is refused, and what is warned of: each check adds its findings and changes nothing."""
