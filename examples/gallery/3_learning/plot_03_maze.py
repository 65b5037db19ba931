"""
Through a maze
==============

An image is a grid graph: neighbouring pixels are joined, and walls are missing edges. The distance
from the entrance fills the maze like water.
"""

import matplotlib.pyplot as plt
import numpy as np

import kleene as kl

side = 60
g = kl.generate.grid(side, side, drop=0.42, seed=12)
r = kl.bfs(g, 0)
steps = np.ma.masked_array(r.distances, ~r.reached).reshape(side, side)
far = int(steps.argmax())
path = np.array(r.path(far))
print(f"{r.reached.sum()} of {g.n} cells can be reached, the farthest after {steps.max()} steps")

# %%

figure, axes = plt.subplots(figsize=(5.6, 5.6))
image = axes.imshow(steps, cmap="viridis")
axes.plot(path % side, path // side, color="#d1380f", lw=1.6)
axes.set_axis_off()
figure.colorbar(image, label="steps from the corner", shrink=0.8)
plt.show()
