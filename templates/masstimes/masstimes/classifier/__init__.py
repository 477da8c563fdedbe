"""Tells times of masses from other times, by what stands around them: the mean of the vectors of
words and of pairs of words, one hidden layer.
"""
