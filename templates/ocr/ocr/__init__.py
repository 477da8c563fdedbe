"""Programs of the pack `templates/ocr`, which transcribe scanned pages with pero-ocr."""
