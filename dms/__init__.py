"""The DMS, data management: the catalogue of data sets, files and their copies on storages;
registers, closes, uploads and deletes them, and gives their content out."""
