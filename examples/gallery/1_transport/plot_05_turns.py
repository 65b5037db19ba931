"""
Forbidden turns
===============

A table of turns that are forbidden, or take time, makes a graph in which they count. Routes come
back in streets and crossings, as before.
"""

import numpy as np
import pandas as pd

import kleene as kl

streets = {
    "from": ["a", "b", "b", "d", "e", "c"],
    "to": ["b", "c", "d", "e", "c", "f"],
    "minutes": [2.0, 2.0, 1.0, 1.0, 1.0, 2.0],
}
xy = {"a": (0, 0), "b": (2, 0), "c": (4, 0), "d": (2, 1.4), "e": (4, 1.4), "f": (6, 0)}
g = kl.Graph.from_table(streets, "from", "to", "minutes", directed=False).with_positions(xy)
plain = kl.sssp(g, "a").path("f")
print(*plain)
kl.draw(g, route=plain, title="Straight on at b")

# %%
# Now whoever comes from a may not go on to c: that turn is forbidden. Another turn takes half a
# minute.

turns = pd.DataFrame(
    {"from": ["a", "b"], "via": ["b", "d"], "to": ["c", "e"], "delay": [np.inf, 0.5]}
)
t = kl.TurnGraph(g, turns)
route = t.sssp("a").route("f")
print(*route.vertices, f"in {route.distance} minutes")
kl.draw(g, route=route.vertices, title="Around by d and e")
