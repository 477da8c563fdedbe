"""Parishes from pages of dioceses: tables whose columns are known by their names."""
