"""The machine: cores, memory, GPUs; files that are written whole; progress bars."""
