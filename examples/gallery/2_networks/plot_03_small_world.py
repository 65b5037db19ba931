"""
A few shortcuts make a small world
==================================

A ring in which everyone knows the next ten is large: paths are long. Rewire a few edges at random,
and distances collapse long before the ring is gone (Watts and Strogatz 1998).
"""

import matplotlib.pyplot as plt
import numpy as np

import kleene as kl

n, sources = 5_000, np.arange(0, 5_000, 50)
shares = [0, *np.logspace(-4, 0, 13)]
means = []
for p in shares:
    g = kl.generate.small_world(n, k=10, p=p, seed=1)
    hops = kl.bfs(g, sources=sources, predecessors=False)
    means.append(hops.distances.mean())
    if p in (0, 1):
        print(f"rewired {p:.0%}: mean distance {means[-1]:.1f} hops")

# %%
# One hundred breadth-first searches of each graph run at once, one bit each.

figure, axes = plt.subplots()
axes.semilogx(shares[1:], np.array(means[1:]) / means[0], "o-")
axes.set(
    xlabel="share of edges rewired", ylabel="mean distance, of the ring's", ylim=(0, 1.05),
    title="5,000 vertices, ten neighbours each",
)  # fmt: skip
plt.show()
