"""
One-way streets
===============

A column of the table says which rows are one-way, in the words of OpenStreetMap: *yes*, *no*, and
*-1* for those against the direction of the row. The way back is another one then.
"""

import pandas as pd

import kleene as kl

streets = pd.read_csv("../../data/streets.csv")
crossings = pd.read_csv("../../data/crossings.csv")
print(streets["oneway"].value_counts().to_dict())
g = kl.Graph.from_table(streets, "source", "target", "minutes", directed="oneway", nodes=crossings)
g

# %%
# Through the centre and back. ``reverse=True`` searches against the arcs: these are the travel
# times *to* H8, from everywhere, by one search.

there = kl.sssp(g, "H8")
to_here = kl.sssp(g, "H8", reverse=True)
print("there:", *there.path("L12"))
print("back: ", *to_here.path("L12"))

# %%

centre = g.subgraph([v for v in g.labels if v[0] in "FGHIJKLM" and 5 < int(v[1:]) < 14])
kl.draw(centre, route=there.path("L12"), labels=True, title="From H8 to L12")

# %%

kl.draw(centre, route=to_here.path("L12"), labels=True, title="From L12 to H8")
