"""Who may do what: principals, the policies of routes, and where both meet."""
