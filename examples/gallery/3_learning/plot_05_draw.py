"""
Draw a graph
============

``kl.draw`` makes a picture of a graph, or of an answer: coloured by distance from the source, with
the path to a target; measures by colour and size, traffic by width, and what differs between two
answers. In a notebook the picture shows itself; with a file name it is written as SVG,
PNG or PDF. Without positions, the layout is computed from the distances.
"""

import kleene as kl

g = kl.datasets.rome()
r = kl.sssp(g, 1)
kl.draw(r, target=3353, unit="m")

# %%
# Small graphs have names and weights, directed ones arrows:

parts = {
    "from": ["plan", "plan", "walls", "roof", "wires", "walls"],
    "to": ["walls", "wires", "roof", "paint", "paint", "wires"],
    "days": [5, 2, 4, 3, 1, 2],
}
g = kl.Graph.from_table(parts, "from", "to", "days")
kl.draw(g, title="A house")

# %%
# Measures have colours and sizes:

kl.draw(kl.betweenness(kl.generate.small_world(60, seed=2)), labels=False)

# %%
# What changes if a part is built faster: two answers of one kind, one minus the other.

faster = g.update({("plan", "walls"): 3})
kl.draw(kl.sssp(faster, "plan"), minus=kl.sssp(g, "plan"), unit="days")
