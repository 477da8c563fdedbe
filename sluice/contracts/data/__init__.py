"""Contracts of data sets, files, storages and assets."""
