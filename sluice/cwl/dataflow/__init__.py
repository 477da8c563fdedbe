"""The dataflow between steps: which output feeds which input, and what each data set holds."""
