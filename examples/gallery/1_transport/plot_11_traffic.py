"""
Traffic on a map
================

Where do all the trips go? ``kl.loads`` puts every trip of a demand on its fastest path and adds up.
``kl.draw`` shows the streets as wide as their traffic, each direction on its right.
"""

import numpy as np
import pandas as pd

import kleene as kl

streets = pd.read_csv("../../data/streets.csv")
crossings = pd.read_csv("../../data/crossings.csv")
g = kl.Graph.from_table(streets, "source", "target", "minutes", directed="oneway", nodes=crossings)

# %%
# A morning: from everywhere to three places of work, invented like the town.

rng = np.random.default_rng(8)
homes = crossings["id"].sample(250, replace=True, random_state=8)
work = rng.choice(["D9", "H12", "O6"], len(homes), p=[0.5, 0.3, 0.2])
cars = rng.integers(1, 12, len(homes))
demand = pd.DataFrame({"home": homes, "work": work, "cars": cars})
flows = kl.loads(g, demand, origin="home", destination="work", volume="cars")
flows

# %%

kl.draw(flows, unit="cars", title="The morning")

# %%
# A bridge is closed: infinity closes the street, and the traffic takes other ones. The difference
# of two answers is drawn in colours around zero, the closed bridge included.

closed = g.update({("J3", "K3"): np.inf})
after = kl.loads(closed, demand, origin="home", destination="work", volume="cars")
kl.draw(after, minus=flows, unit="cars", title="What a closed bridge changes")

# %%
# Who loses how much time on the way to D9?

before = kl.sssp(g, "D9", reverse=True)
kl.draw(kl.sssp(closed, "D9", reverse=True), minus=before, unit="min")

# %%
# Which streets matter for trips between all pairs of crossings? Betweenness counts the pairs
# whose fastest path goes along a street.

matter = kl.betweenness(g, edges=True)
kl.draw(matter.edges, title="Betweenness of streets")
