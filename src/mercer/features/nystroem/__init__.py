"""Nystroem features: a kernel projected on the span of landmarks."""
