"""How many features reach an error: ``components_for`` and the inequalities behind it."""
