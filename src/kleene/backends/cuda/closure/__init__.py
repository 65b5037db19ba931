"""The closure of dense matrices on GPUs."""
