"""
A travel time matrix
====================

Sources and targets in, a labelled table out. 200 x 200 zones are one call, on all cores.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import kleene as kl

streets = pd.read_csv("../../data/streets.csv")
crossings = pd.read_csv("../../data/crossings.csv")
g = kl.Graph.from_table(streets, "source", "target", "minutes", directed="oneway", nodes=crossings)
zones = crossings["id"].sample(200, random_state=1).sort_values()
matrix = kl.sssp(g, sources=zones, targets=zones, predecessors=False).to_frame()
matrix.iloc[:5, :6]

# %%

figure, axes = plt.subplots(figsize=(5.8, 5))
image = axes.imshow(matrix, cmap="viridis")
places = np.flatnonzero(~zones.str[0].duplicated())
axes.set_xticks(places, zones.iloc[places].str[0], fontsize=8)
axes.set_yticks(places, zones.iloc[places].str[0], fontsize=8)
axes.set(title="Minutes from zone to zone; the river is between J and K")
figure.colorbar(image)
plt.show()
