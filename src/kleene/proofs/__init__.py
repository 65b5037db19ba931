"""Proofs of answers: graphs and claims, and no method that made them."""
