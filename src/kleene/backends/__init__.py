"""The implementations: reference (NumPy), cpu (C++) and cuda, and what they share."""
