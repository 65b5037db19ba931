"""Graphs larger than a machine: parts of a graph on the ranks of an MPI job.

Every rank owns a range of vertices and their outgoing arcs (``partition``, ``graph``). Searches
(``bfs``, ``sssp``) run on all ranks at once and exchange messages through a ``communicator``; the
``result`` stays where it was made.
"""
