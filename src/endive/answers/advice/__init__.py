"""Which change helps: levers, what each would do, and the words for it."""
