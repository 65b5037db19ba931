"""The calls that users make: arguments are checked here, once, then planned and run."""

from kleene.api.solve import Out, Progress, Vertices, apsp, bfs, closure, explain, methods, sssp

__all__ = ["Out", "Progress", "Vertices", "apsp", "bfs", "closure", "explain", "methods", "sssp"]
