"""Commands about a study: swept, checked, analysed, drawn."""
