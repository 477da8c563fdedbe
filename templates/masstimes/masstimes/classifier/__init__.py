"""A classifier that separates mass times from other times by their context.

It has the mean of the vectors of words and of pairs of words, then one linear layer.
"""
