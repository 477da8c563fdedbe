"""Read a page as a person does: what each hour is for, on which days, and in which season."""
