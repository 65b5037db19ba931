"""
A route on the map
==================

A route is a path with its arcs, the rows of your table that it runs along, and the coordinates.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection

import kleene as kl

streets = pd.read_csv("../../data/streets.csv")
crossings = pd.read_csv("../../data/crossings.csv")
g = kl.Graph.from_table(streets, "source", "target", "minutes", directed="oneway", nodes=crossings)
route = kl.sssp(g, "B3").route("Q15")
print(f"{route.distance:.2f} minutes along {len(route.arcs)} streets")

# %%
# The streets themselves, with all columns of the table:

along = streets.loc[route.rows, ["source", "target", "metres", "minutes", "kind"]]
along.head()

# %%
# Most of the way is on the ring road, which is longer and faster.

print(along.groupby("kind")[["metres", "minutes"]].sum())

figure, axes = plt.subplots(figsize=(6, 6))
lines = g.positions[np.column_stack([g.coo.sources, g.coo.targets])]
axes.add_collection(LineCollection(lines, color="#cfcfca", lw=0.8))
axes.plot(*route.coordinates.T, color="#d1380f", lw=2.5)
axes.set(aspect="equal", title="The fastest way from B3 to Q15")
axes.set_axis_off()
plt.show()

# %%
# And as GeoJSON:

route.to_geojson()["properties"]
