"""A history run through the model: figures beside figures, and the cause where they differ."""
