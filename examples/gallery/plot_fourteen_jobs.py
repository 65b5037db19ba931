"""
Fourteen daily jobs
===================

What transport modellers and network analysts do every day, each as one call. Where the answer lies
on a map, ``kl.draw`` shows it there. The town is the one of ``examples/data``: 324 crossings, 551
streets.
"""

# sphinx_gallery_thumbnail_number = 1

import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

import kleene as kl

streets = pd.read_csv("../data/streets.csv")
crossings = pd.read_csv("../data/crossings.csv")
folder = Path(tempfile.mkdtemp())

# %%
# 1. A table of strings becomes a graph
# -------------------------------------
#
# A vertex is its label: names go in, names come out.

g = kl.Graph.from_table(streets, "source", "target", "minutes", directed="oneway", nodes=crossings)
g

# %%
# 2. A matrix of 200 x 200 zones
# ------------------------------

zones = crossings["id"].sample(200, random_state=1)
matrix = kl.sssp(g, sources=zones, targets=zones, predecessors=False).to_frame()
matrix.iloc[:4, :6]

# %%
# 3. A list of pairs
# ------------------

trips = pd.DataFrame({"from": ["B3", "H8", "A1"], "to": ["Q15", "L12", "R18"]})
trips["minutes"] = kl.sssp(g, pairs=trips[["from", "to"]].to_numpy()).distances
trips

# %%
# 4. An isochrone
# ---------------

bands = kl.isochrones(g, "G9", [1, 2, 3])
kl.draw(bands, unit="min")

# %%
# 5. The k nearest of each
# ------------------------
#
# For every crossing its three nearest schools.

schools = ["C4", "D15", "H9", "O6", "Q16"]
kl.nearest(g, schools, k=3)

# %%
# 6. The nearest of several, and whose it is
# ------------------------------------------

near = kl.nearest(g, schools)
print(near.to_frame()["facility"].value_counts().to_dict())
kl.draw(near, target="A1", unit="min")

# %%
# 7. One-way streets
# ------------------
#
# The column ``oneway`` above says which rows are one-way, and which way: the way back differs.

there, back = kl.sssp(g, "H8").route("L12"), kl.sssp(g, "L12").route("H8")
print("there:", *there.vertices)
kl.draw(there, unit="min")

# %%

print("back: ", *back.vertices)
kl.draw(back, unit="min")

# %%
# 8. The geometry of a route
# --------------------------
#
# A route knows the rows of the table, and the coordinates.

route = kl.sssp(g, "B3").route("Q15")
print(streets.loc[route.rows, ["metres", "minutes"]].sum().round(2).to_dict())
print(route.coordinates[:2].tolist())
kl.draw(kl.sssp(g, "B3"), target="Q15", unit="min")

# %%
# 9. 5,000 x 5,000 distances to disk
# ----------------------------------
#
# 25 million numbers in int32: 100 MB in a file, and not in memory.

city = kl.generate.grid(50, 100, weights=(1, 9), seed=1)
file = folder / "distances.npy"
kl.apsp(city, predecessors=False, out=file)
print(np.load(file, mmap_mode="r").shape, f"{file.stat().st_size / 1e6:.0f} MB")

# %%
# 10. Other weights every day
# ---------------------------
#
# New weights come in the order of the table. How much longer is every way from B3 when it rains?

rain = streets["minutes"] * np.where(streets["kind"] == "bridge", 2.5, 1.2)
kl.draw(kl.sssp(g.reweight(rows=rain), "B3"), minus=kl.sssp(g, "B3"), unit="min")

# %%
# 11. Turns
# ---------
#
# A forbidden turn: who comes from the first crossing may not go on to the third.

a, b, c = route.vertices[3:6]
turns = pd.DataFrame({"from": [a], "via": [b], "to": [c], "delay": [np.inf]})
t = kl.TurnGraph(g, turns)
print(f"without: {route.distance:.2f} min:", *route.vertices[2:7])
detour = t.sssp("B3").route("Q15")
print(f"with:    {detour.distance:.2f} min:", *detour.vertices[2:7])
kl.draw(detour, unit="min", title=f"From B3 to Q15 without the turn at {b}")

# %%
# 12. NaN and duplicates
# ----------------------
#
# NaN is an error that says where; of parallel rows the lightest counts.

messy = pd.DataFrame({"from": ["a", "a", "b"], "to": ["b", "b", "c"], "km": [7.0, 5.0, np.nan]})
try:
    kl.Graph.from_table(messy, "from", "to", "km")
except kl.GraphError as error:
    print(error)
clean = kl.Graph.from_table(messy.dropna(), "from", "to", "km")
clean, clean.weights.tolist()

# %%
# 13. Components
# --------------
#
# The whole town is one; without its bridges it falls apart.

parts = kl.components(g, kind="strong")
print(parts, g.subgraph(parts.largest))
bridges = np.flatnonzero(streets["kind"] == "bridge").tolist()
kl.draw(kl.components(g.update(rows=dict.fromkeys(bridges, np.inf)), kind="strong"))

# %%
# 14. From OSMnx
# --------------
#
# The graph that ``osmnx.graph_from_place`` returns, here made by hand, comes with its lengths,
# positions and geometry.

G = nx.MultiDiGraph(crs="epsg:4326")
for crossing in crossings.itertuples():
    G.add_node(crossing.id, x=crossing.x, y=crossing.y)
for street in streets.itertuples():
    points = street.geometry.removeprefix("LINESTRING (").removesuffix(")").split(", ")
    if street.oneway != "-1":
        line = f"LINESTRING ({', '.join(points)})"
        G.add_edge(street.source, street.target, length=float(street.metres), geometry=line)
    if street.oneway != "yes":
        line = f"LINESTRING ({', '.join(points[::-1])})"
        G.add_edge(street.target, street.source, length=float(street.metres), geometry=line)
osm = kl.Graph.from_osmnx(G)
print(osm)
kl.draw(kl.sssp(osm, "B3"), target="Q15", unit="m")
