"""Reading of texts and files into nodes with places, and the findings about them."""
