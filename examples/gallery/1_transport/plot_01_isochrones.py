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
# On a map, the nearest on top. The river has four bridges, and the outlines show it.

kl.draw(bands, unit="min")

# %%
# From several places: what is near to any of them is one area,

stations = ["C4", "H9", "O6", "Q16"]
kl.draw(kl.isochrones(g, stations, [1, 2]), unit="min")

# %%
# and with ``each=True`` every place has its own.

kl.draw(kl.isochrones(g, stations, [2], each=True), unit="min", title="Two minutes from stations")

# %%
# The streets themselves end where the minutes do:

figure, axes = plt.subplots(figsize=(6.4, 6))
lines = g.positions[np.column_stack([g.coo.sources, g.coo.targets])]
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
