"""The CUDA engine: kernels in ``kernels/``, and the loops that launch them, here."""
