"""The figures of a sweep derived again, from its txns: the test of what the sweep wrote down."""
