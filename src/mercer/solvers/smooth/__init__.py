"""Smooth losses by Newton's method with conjugate gradients."""
