"""Learners that are exact near a row and of low rank far from it, and what chooses everything for them."""
