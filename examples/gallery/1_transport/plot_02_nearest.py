"""
The nearest of several hospitals
================================

``kl.nearest`` finds for every vertex the nearest of some facilities: which it is, how far, and the
path. One search does it for all vertices.
"""

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

kl.draw(near, title="Which hospital is the nearest?")

# %%
# A fifth one at H9: who would be nearer to a hospital, and by how much?

kl.draw(kl.nearest(g, [*hospitals, "H9"]), minus=near, unit="min", title="A hospital at H9")

# %%
# ``k=2`` adds the second nearest, for the case that the first is full.

near = kl.nearest(g, hospitals, k=2)
near.to_frame().query("vertex == 'J9'")
