"""The five documents whose experiments are run again here."""

from kleene_lab.harness.experiment import Document

__all__ = ["BLOCKED", "CHAPTER", "CS205", "GPU_GRAPHS", "SSSP"]

GPU_GRAPHS = Document("Padamata and Raveendran", "Graph algorithms on GPUs", "")
CHAPTER = Document("Programming Massively Parallel Processors", "Chapter 15: graph traversal", "")
SSSP = Document(
    "Periasubbramaniam and Denlinger", "Parallel GPU based shortest path in graph algorithms", ""
)
CS205 = Document("Ross, Pan and Burbank", "CS205 homework 2, group problem", "")
BLOCKED = Document("Zuccato and Lena", "Blocked all-pairs shortest paths", "")
