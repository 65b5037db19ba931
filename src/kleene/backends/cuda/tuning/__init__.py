"""Constants of the CUDA engine, one module per engine, each with where it was measured."""
