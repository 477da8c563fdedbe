"""A small web to try the programs on: sites of parishes that are made up, lists of them by dioceses
and a search for places, served on this machine; and the truth about the times of masses on them,
for those who measure.
"""
