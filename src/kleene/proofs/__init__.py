"""Proofs of answers: they use graphs and claims, but no method that made them."""
