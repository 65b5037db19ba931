"""The adversarial campaign: faults, damaged files, random graphs, mutants, signals and limits.

``make torture`` runs every part for a short while; ``make torture ARGS="soak --minutes 60"`` runs
one for longer. Not part of the installed package.
"""
