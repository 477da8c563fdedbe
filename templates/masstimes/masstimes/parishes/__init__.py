"""Parishes from tables on pages of dioceses, whose columns are known by their names."""
