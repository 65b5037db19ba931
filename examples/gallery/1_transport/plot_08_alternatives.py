"""
Alternative routes
==================

The k shortest paths between two places, in order of length.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection

import kleene as kl

streets = pd.read_csv("../../data/streets.csv")
crossings = pd.read_csv("../../data/crossings.csv")
g = kl.Graph.from_table(streets, "source", "target", "minutes", directed="oneway", nodes=crossings)
routes = kl.k_shortest(g, "F6", "M13", 4)
for route in routes:
    print(f"{route.distance:.2f} minutes: {' '.join(route.vertices)}")

# %%

figure, axes = plt.subplots(figsize=(6, 6))
lines = g.positions[np.column_stack([g.coo.sources, g.coo.targets])]
axes.add_collection(LineCollection(lines, color="#dddcd6", lw=0.8))
for number, route in enumerate(routes):
    shift = 0.00012 * (number - 1.5)  # side by side where they share streets
    axes.plot(*(route.coordinates + shift).T, lw=2, label=f"{route.distance:.2f} min")
axes.legend(frameon=False)
axes.set(aspect="equal", title="Four ways from F6 to M13")
axes.set_axis_off()
plt.show()
