"""Online learners with a budget of support vectors: f is a sum of at most B kernel functions, whatever the stream."""
