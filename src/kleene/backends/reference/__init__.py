"""Plain Python and NumPy, slow and obviously right: the oracle for every other method."""
