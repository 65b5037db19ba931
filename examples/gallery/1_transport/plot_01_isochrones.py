"""
Isochrones
==========

How far can you get in one, two, three minutes? ``kl.isochrones`` searches from one place up to each
limit, and draws an outline around what was reached.
"""

import json

import matplotlib.pyplot as plt
import pandas as pd

import kleene as kl

streets = pd.read_csv("../../data/streets.csv")
crossings = pd.read_csv("../../data/crossings.csv")
g = kl.Graph.from_table(
    streets, "source", "target", "minutes", directed="oneway", nodes=crossings, node="crossing"
)
bands = kl.isochrones(g, "G9", [1, 2, 3])
bands

# %%
# Three bands, the nearest on top. The river has four bridges, and the outlines show it.

figure, axes = plt.subplots(figsize=(6.4, 6))
areas = bands.to_geojson()["features"]
colours = {1: "#21918c", 2: "#7fc0b9", 3: "#cfe3e2"}
for area in sorted(areas, key=lambda one: -one["properties"]["limit"]):
    shape = area["geometry"]
    parts = [shape["coordinates"]] if shape["type"] == "Polygon" else shape["coordinates"]
    for part in parts:
        axes.fill(*zip(*part[0], strict=True), color=colours[area["properties"]["limit"]], lw=0)
x, y = g.positions.T
axes.plot(
    x[[g.coo.sources, g.coo.targets]], y[[g.coo.sources, g.coo.targets]], color="#6b7178", lw=0.5
)
axes.plot(*g.positions[g.index("G9")], "o", color="#d1380f")
axes.set(aspect="equal", title="One, two and three minutes from G9")
axes.set_axis_off()
plt.show()

# %%
# GeoJSON, for a web map or a GIS:

print(json.dumps(areas[0])[:120], "...")
