"""From a history to a configuration: writers, when they submit, what they do, and whether the model keeps up."""
