"""
The widest path
===============

The capacity of a path is that of its narrowest pipe. ``closure`` with the semiring ``max_min``
finds the widest path between all pairs; the methods are those of shortest paths.
"""

import matplotlib.pyplot as plt

import kleene as kl

pipes = {
    "from": ["well", "well", "tower", "tower", "mill", "mill", "farm", "farm"],
    "to": ["tower", "mill", "mill", "farm", "farm", "inn", "inn", "church"],
    "litres": [90, 40, 60, 30, 70, 20, 50, 80],
}
g = kl.Graph.from_table(pipes, "from", "to", "litres", directed=False)
r = kl.closure(g, "max_min", predecessors=True)
path = r.path("well", "church")
print(" → ".join(map(str, path)))

# %%
# The matrix of all capacities; the diagonal, where no pipe is needed, is left out.

widths = r.values.astype(float)
widths[range(g.n), range(g.n)] = float("nan")
figure, axes = plt.subplots(figsize=(5.4, 4.6))
image = axes.imshow(widths, cmap="viridis")
axes.set_xticks(range(g.n), g.labels, rotation=45, ha="right")
axes.set_yticks(range(g.n), g.labels)
for i in range(g.n):
    for j in range(g.n):
        if i != j:
            axes.text(j, i, f"{widths[i, j]:.0f}", ha="center", va="center", color="white")
axes.set_title("Litres a second, by the widest path")
figure.colorbar(image)
plt.show()
