"""Programs of the pack `templates/ocr`: scanned pages become transcriptions, by pero-ocr."""
