"""
A prepared city
===============

Many questions about one network: ``kl.prepare`` eliminates its crossings once. Then a distance
takes microseconds, a matrix milliseconds, and new travel times for all streets milliseconds too.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection

import kleene as kl

streets = pd.read_csv("../../data/streets.csv")
crossings = pd.read_csv("../../data/crossings.csv")
g = kl.Graph.from_table(streets, "source", "target", "minutes", directed="oneway", nodes=crossings)
p = kl.prepare(g)
p

# %%
# What was made, and what it took:

print(p.explain())

# %%
# Every quarter of an hour the streets have new travel times, and all trips get theirs.

trips = crossings["id"].sample(400, replace=True, random_state=7).to_numpy().reshape(200, 2)
rng = np.random.default_rng(1)
times = np.arange(0, 24, 1 / 4)
means = []
for hour in times:
    rush = np.exp(-((hour - 8) ** 2) / 3) + 0.8 * np.exp(-((hour - 17.5) ** 2) / 5)
    jams = 1 + rush * rng.gamma(2.0, 0.8, len(streets))
    now = p.customize(rows=streets["minutes"] * jams)
    means.append(now.distances(trips).mean())

figure, axes = plt.subplots()
axes.plot(times, means, color="#21918c")
axes.set(
    xlabel="hour", ylabel="minutes", xlim=(0, 24), title="The mean of 200 trips through the day"
)
plt.show()

# %%
# A bridge is closed, and a trip takes another way. Infinity closes it.

start, end = "B3", "Q15"
before = p.paths([(start, end)]).route(0)
closed = p.customize(g.update({("J3", "K3"): np.inf}))
after = closed.paths([(start, end)]).route(0)
print(f"{before.distance:.1f} minutes before, {after.distance:.1f} after")

figure, axes = plt.subplots(figsize=(6.4, 6))
lines = g.positions[np.column_stack([g.coo.sources, g.coo.targets])]
axes.add_collection(LineCollection(lines, color="#d9d6cc", lw=0.6))
axes.plot(*before.coordinates.T, color="#c9c3b4", lw=4, label="before")
axes.plot(*after.coordinates.T, color="#d1380f", lw=1.6, label="after")
axes.set(aspect="equal", title=f"From {start} to {end}, with a bridge closed")
axes.set_axis_off()
axes.legend(frameon=False)
plt.show()

# %%
# The answers are ordinary results: tables, files, and proof against the graph itself.

matrix = closed.matrix(["A1", "H8", "R18"], ["B3", "L12", "Q15"])
print(matrix.verify())
matrix.to_frame().round(1)
