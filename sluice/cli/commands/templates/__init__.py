"""Commands about templates, tools and pipelines."""
