"""
Other weights every hour
========================

Travel times change during the day. ``reweight(rows=column)`` takes new weights in the order of your
table, whatever became of its rows: one-way streets, parallel rows, both directions.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import kleene as kl

streets = pd.read_csv("../../data/streets.csv")
g = kl.Graph.from_table(streets, "source", "target", "minutes", directed="oneway")
hours = np.arange(24)
rush = 1 + 1.8 * np.exp(-((hours - 8) ** 2) / 3) + 1.4 * np.exp(-((hours - 17.5) ** 2) / 5)
slow = np.where(streets["kind"] == "bridge", 4.0, np.where(streets["kind"] == "ring", 1.0, 0.6))

trips = [("B3", "Q15"), ("H8", "L12"), ("A1", "R18")]
minutes = {trip: [] for trip in trips}
for factor in rush:
    column = streets["minutes"] * (1 + (factor - 1) * slow)
    day = kl.sssp(g.reweight(rows=column), pairs=trips)
    for trip, distance in zip(trips, day.distances, strict=True):
        minutes[trip].append(distance)

# %%
# The bridges are the bottleneck.

figure, axes = plt.subplots()
for (start, end), times in minutes.items():
    axes.plot(hours, times, label=f"{start} to {end}")
axes.set(xlabel="hour", ylabel="minutes", xlim=(0, 23), title="Travel times through the day")
axes.legend(frameon=False)
plt.show()

# %%
# A closed street is an update: infinity closes all rows of the table from J8 to K8, here a bridge
# that goes both ways, in both directions. ``update(rows={17: np.inf})`` closes one row.

closed = g.update({("J8", "K8"): np.inf})
kl.sssp(g, "J8").path("K8"), kl.sssp(closed, "J8").path("K8")
