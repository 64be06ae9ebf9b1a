"""Maps of kernels on objects."""
