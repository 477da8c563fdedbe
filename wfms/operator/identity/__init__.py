"""Accounts, tokens, sessions, groups and sign-in."""
