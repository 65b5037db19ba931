"""
Where do one-way streets cost the most?
=======================================

The way there and the way back differ in length where streets are one-way. ``apsp`` of Rome's
streets has both in one matrix.
"""

# %%
# All pairs of 3,353 crossings are 11 million distances.

import matplotlib.pyplot as plt
import numpy as np

import kleene as kl

g = kl.datasets.rome()
r = kl.apsp(g, predecessors=False)
there = r.distances
back = there.T
detour = np.abs(there - back)
print(f"median {np.median(detour):.0f}, largest {detour.max()}")

# %%
# Most trips are about as long in both directions:

figure, axes = plt.subplots()
axes.hist(detour[np.triu_indices(g.n, 1)], bins=120, range=(0, 6000))
axes.set(xlabel="difference between there and back", ylabel="pairs", title="Rome")

plt.show()
