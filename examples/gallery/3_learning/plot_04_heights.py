"""
Over the hills
==============

Weights may be any numbers. Here a step costs its length and what it climbs, and downhill gives a
part of that back, so some steps cost less than nothing. Dijkstra's algorithm cannot take such
weights; ``method="auto"`` chooses one that can.
"""

import matplotlib.pyplot as plt
import numpy as np

import kleene as kl

side = 80
y, x = np.mgrid[0:side, 0:side] / side
heights = sum(
    h * np.exp(-((x - a) ** 2 + (y - b) ** 2) / s)
    for h, a, b, s in (
        (9, 0.3, 0.4, 0.02),
        (7, 0.7, 0.55, 0.015),
        (8, 0.45, 0.8, 0.02),
        (5, 0.8, 0.15, 0.03),
    )
)
flat = kl.generate.grid(side, side)
climb = heights.ravel()[flat.coo.targets] - heights.ravel()[flat.coo.sources]
g = kl.Graph.from_csr(flat.offsets, flat.neighbors, 0.4 + np.where(climb > 0, 3 * climb, climb))
start, end = 0, side * side - 1
r = kl.sssp(g, start)
path = np.array(r.path(end))
print(f"method {r.plan.method}: cost {r.distances[end]:.1f} with {len(path) - 1} steps,", end=" ")
print(f"weights from {g.weights.min():.2f}")

# %%

figure, axes = plt.subplots(figsize=(5.8, 5))
image = axes.contourf(heights, levels=16, cmap="terrain", alpha=0.85)
axes.plot(path % side, path // side, color="#d1380f", lw=2)
axes.set(title="The cheapest way from corner to corner", xticks=[], yticks=[], aspect="equal")
figure.colorbar(image, label="height")
plt.show()
