"""Commands that list what there is: providers, catalogs, recipes, keys of a configuration."""
