"""
How many hops apart?
====================

The number of vertices at each distance shows the shape of a network: a road network spreads out
slowly, a network with hubs is reached in a few hops.
"""

import matplotlib.pyplot as plt
import numpy as np

import kleene as kl

graphs = {
    "hubs: R-MAT, scale 12": kl.generate.rmat(12, seed=1),
    "random: uniform": kl.generate.uniform(4096, 32_768, directed=False, seed=1),
    "flat: grid 64 x 64": kl.generate.grid(64, 64),
}
levels = {}
for name, g in graphs.items():
    hub = int(np.argmax(g.stats.degrees))
    r = kl.bfs(g, hub)
    levels[name] = np.bincount(r.distances[r.reached])
    print(f"{name:24} {r.reached.sum():5} of {g.n} reached, farthest at {len(levels[name]) - 1}")

# %%

figure, axes = plt.subplots(1, 3, figsize=(9.6, 3), sharey=True)
for ax, (name, counts) in zip(axes, levels.items(), strict=True):
    ax.bar(range(len(counts)), counts)
    ax.set(title=name, xlabel="hops from the hub")
axes[0].set_ylabel("vertices")
figure.tight_layout()
plt.show()
