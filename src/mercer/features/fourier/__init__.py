"""Random Fourier features of shift-invariant kernels, one distribution of frequencies per file."""
