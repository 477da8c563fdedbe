"""The service that asks people: keeps items, lends them to browsers, counts answers, finds out who
answers without looking, and gives the WMS what is agreed on.
"""
