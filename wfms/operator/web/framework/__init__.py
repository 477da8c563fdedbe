"""What all pages share: routes, forms, navigation and rendering."""
