"""
Unroll the Swiss roll
=====================

Isomap places points by their distances along a surface. These are all pairs of shortest paths, and
``patch_sklearn`` makes scikit-learn compute them with Kleene.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import Isomap

import kleene as kl

X, along = make_swiss_roll(800, random_state=0)
with kl.patch_sklearn():
    flat = Isomap(n_neighbors=10).fit_transform(X)

# %%

figure = plt.figure(figsize=(9, 4))
rolled = figure.add_subplot(1, 2, 1, projection="3d")
rolled.scatter(*X.T, c=along, s=6)
rolled.set_title("The roll")
axes = figure.add_subplot(1, 2, 2)
axes.scatter(*flat.T, c=along, s=6)
axes.set_title("Unrolled")
plt.show()

# %%
# The distances themselves, without an embedding, from one point to all others. The straight line
# cuts through the roll; the path along it does not.

d = kl.geodesic_distances(X, n_neighbors=10, sources=[0])
print(f"farthest point along the surface: {d.max():.0f}, as the crow flies:", end=" ")
print(f"{((X - X[0]) ** 2).sum(1).max() ** 0.5:.0f}")
