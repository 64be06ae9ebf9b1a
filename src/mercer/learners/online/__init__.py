"""Online learners: one pass over a stream, one update per row."""
