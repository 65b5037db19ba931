"""
The nearest of several hospitals
================================

``kl.nearest`` finds for every vertex the nearest of some facilities: which it is, how far, and the
path. One search does it for all vertices.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import kleene as kl

streets = pd.read_csv("../../data/streets.csv")
crossings = pd.read_csv("../../data/crossings.csv")
g = kl.Graph.from_table(streets, "source", "target", "minutes", directed="oneway", nodes=crossings)
hospitals = ["C4", "D15", "O6", "Q16"]
near = kl.nearest(g, hospitals)
near.to_frame().head()

# %%
# The catchment areas:

owner = near.to_frame().set_index("vertex")["facility"].loc[crossings["id"]]
figure, axes = plt.subplots(figsize=(6, 6))
for hospital in hospitals:
    inside = g.positions[np.asarray(owner == hospital)]
    axes.scatter(*inside.T, s=26, label=f"{hospital}: {len(inside)} crossings")
for hospital in hospitals:
    axes.plot(*g.positions[g.index(hospital)], "P", ms=12, color="#22262b")
axes.legend(loc="upper center", ncols=2, bbox_to_anchor=(0.5, 0), frameon=False)
axes.set(aspect="equal", title="Which hospital is the nearest?")
axes.set_axis_off()
plt.show()

# %%
# ``k=2`` adds the second nearest, for the case that the first is full.

near = kl.nearest(g, hospitals, k=2)
near.to_frame().query("vertex == 'J9'")
