"""The data management service (DMS): the catalogue of data sets, files and replicas on storages.

It registers, closes, uploads and deletes data sets, and serves their content.
"""
