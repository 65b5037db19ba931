"""Devices that run CUDA kernels: GPUs and the emulator."""
