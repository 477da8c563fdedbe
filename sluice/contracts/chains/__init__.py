"""Contracts of chains, the intake and the watcher."""
