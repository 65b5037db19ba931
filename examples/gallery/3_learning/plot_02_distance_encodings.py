"""
Distance encodings for graph transformers
=========================================

A graph transformer biases attention by the number of hops between two vertices.
``distance_encodings`` computes them for a whole batch of graphs in one call.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import kleene as kl

molecules = [nx.cycle_graph(6), nx.balanced_tree(2, 3), nx.barbell_graph(5, 3), nx.path_graph(12)]
codes = kl.distance_encodings(molecules, max_distance=7, unreachable=8, pad=9)
print(codes.shape, codes.dtype)

# %%
# One padded array, ready for ``torch.nn.Embedding(10, heads)``. White is padding.

figure, axes = plt.subplots(1, 4, figsize=(9.6, 2.8))
for ax, code, name in zip(axes, codes, ("ring", "tree", "barbell", "path"), strict=True):
    image = ax.imshow(np.ma.masked_equal(code, 9), cmap="viridis_r", vmin=0, vmax=8)
    ax.set(title=name, xticks=[], yticks=[])
figure.colorbar(image, ax=axes, label="hops", shrink=0.8)
plt.show()
