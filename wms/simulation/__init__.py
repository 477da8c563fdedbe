"""Simulation of warm worker placement with the policies of the WMS."""
