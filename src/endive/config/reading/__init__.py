"""From a file to a resolved configuration: text, spellings, recipes, overrides, defaults, problems."""
