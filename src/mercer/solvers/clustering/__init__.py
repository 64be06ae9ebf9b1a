"""Parts of k-means: seeds and nearest centres."""
