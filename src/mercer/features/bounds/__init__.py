"""The number of features needed for a given error: ``components_for`` and its inequalities."""
