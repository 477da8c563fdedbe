"""What a pilot decides, without any input or output: events in, instructions out."""
