"""Commands about accounts, groups, tokens, secrets and the audit log."""
