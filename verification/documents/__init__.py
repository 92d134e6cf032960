"""The five documents Endive was first described in, line by line: what each asks for, and the test that shows it."""
