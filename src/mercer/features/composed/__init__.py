"""Maps of maps: the algebra of kernels, carried over to features."""
