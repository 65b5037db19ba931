"""Tuning numbers of the GPU engines: one module per engine, each number with its measurement.

Numbers that kernels need at compile time are in ``kernels/tuning``, one header per engine.
"""
