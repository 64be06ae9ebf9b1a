"""How kernels are evaluated: distances between rows, bandwidths found from data, tiles of Gaussian values."""
