"""What happened to single txns: their requests, attempt by attempt, in sentences and on a time axis."""
