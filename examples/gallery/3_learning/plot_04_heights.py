"""
Over the hills
==============

Weights may be any numbers. Here a step costs its length and three times what it climbs, and
downhill gives a part of that back, so some steps cost less than nothing. Dijkstra's algorithm
cannot take such weights; ``method="auto"`` chooses one that can.
"""

import matplotlib.pyplot as plt
import numpy as np

import kleene as kl

side = 80
y, x = np.mgrid[0:side, 0:side] / side
hills = [(9, 0.3, 0.4, 0.02), (7, 0.7, 0.55, 0.015), (8, 0.45, 0.8, 0.02), (5, 0.8, 0.15, 0.03)]
heights = sum(h * np.exp(-((x - a) ** 2 + (y - b) ** 2) / s) for h, a, b, s in hills)

grid = kl.generate.grid(side, side, diagonals=True)
tails, heads = grid.coo.sources, grid.coo.targets
length = np.hypot(heads % side - tails % side, heads // side - tails // side)
climb = np.diff(heights.ravel()[np.stack([tails, heads])], axis=0)[0]
g = grid.reweight(arcs=0.25 * length + np.where(climb > 0, 3 * climb, climb))

start, end = 40 * side, 40 * side + side - 1  # from the left edge to the right
r = kl.sssp(g, start, targets=[end])
path = np.array(r.path(end))
print(f"by {r.plan.method}: {len(path) - 1} steps, weights from {g.weights.min():.2f}")

# %%

figure, axes = plt.subplots(figsize=(5.8, 5))
image = axes.contourf(heights, levels=16, cmap="terrain", alpha=0.85)
axes.plot(path % side, path // side, color="#d1380f", lw=2.5)
axes.set(title="The cheapest way from left to right", xticks=[], yticks=[], aspect="equal")
figure.colorbar(image, label="height")
plt.show()
