"""Reading of a page as a person does: the purpose, days and season of each hour."""
