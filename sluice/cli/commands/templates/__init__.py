"""Commands about templates, tools, assets and pipelines."""
