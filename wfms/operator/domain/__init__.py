"""The domain of the operator service: types and functions without input and output."""
