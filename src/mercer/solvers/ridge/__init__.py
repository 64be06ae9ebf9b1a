"""Ridge regression: one penalty, or a whole path of them."""
