"""Leading eigenvectors and canonical pairs."""
