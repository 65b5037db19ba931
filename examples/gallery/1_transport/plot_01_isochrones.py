"""
Isochrones
==========

How far can you get in one, two, three minutes? ``kl.isochrones`` searches from one place up to each
limit, and draws an outline around what was reached.
"""

import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection

import kleene as kl

streets = pd.read_csv("../../data/streets.csv")
crossings = pd.read_csv("../../data/crossings.csv")
g = kl.Graph.from_table(streets, "source", "target", "minutes", directed="oneway", nodes=crossings)
bands = kl.isochrones(g, "G9", [1, 2, 3])
bands

# %%
# Three bands, the nearest on top. The river has four bridges, and the outlines show it.

figure, axes = plt.subplots(figsize=(6.4, 6))
for limit, colour in {3: "#cfe3e2", 2: "#7fc0b9", 1: "#21918c"}.items():
    for outline, *holes in bands.area(limit):
        axes.fill(*outline.T, color=colour, lw=0)
        for hole in holes:
            axes.fill(*hole.T, color="white", lw=0)
lines = g.positions[np.column_stack([g.coo.sources, g.coo.targets])]
axes.add_collection(LineCollection(lines, color="#6b7178", lw=0.5))
axes.plot(*g.positions[g.index("G9")], "o", color="#d1380f")
axes.set(aspect="equal", title="One, two and three minutes from G9")
axes.set_axis_off()
plt.show()

# %%
# The streets themselves end where the minutes do:

figure, axes = plt.subplots(figsize=(6.4, 6))
axes.add_collection(LineCollection(lines, color="#e4e2da", lw=0.8))
axes.add_collection(LineCollection(bands.streets(2), color="#21918c", lw=1.6))
axes.plot(*g.positions[g.index("G9")], "o", color="#d1380f")
axes.set(aspect="equal", title="Streets within two minutes of G9")
axes.set_axis_off()
plt.show()

# %%
# And GeoJSON, for a web map or a GIS:

collection = bands.to_geojson(["area"])
print([feature["properties"] for feature in collection["features"]])
print(json.dumps(collection)[:160], "...")
