"""
From a map to flows
===================

Streets come as a GeoPackage, homes and workplaces as points. The answer is a map: how many trips go
along each street. No other program takes part.
"""

# %%
# Each line is a street, and streets meet where lines end. The column ``minutes`` is the weight, and
# ``oneway`` says which streets are.

import tempfile
from pathlib import Path

import numpy as np

import kleene as kl

town = kl.read("../../data/streets.gpkg", directed="oneway", weight="minutes")
kl.draw(town)

# %%
# Homes lie all over the town, workplaces around its centre. Each belongs to the crossing nearest to
# it; none is further than 300 metres away.

rng = np.random.default_rng(7)
homes = rng.uniform([0, 0], [0.027, 0.029], (400, 2))
works = rng.normal([0.013, 0.014], 0.004, (60, 2))
origins = town.nearest_vertex(*homes.T, max_distance=300)
destinations = town.nearest_vertex(*works.T, max_distance=300)
print(f"{origins.distances.mean():.0f} metres to a crossing, at most {origins.distances.max():.0f}")

# %%
# Of each home, 40 trips a day go to the workplaces, more of them to near ones.

minutes = kl.sssp(
    town, sources=np.unique(origins.vertices), targets=np.unique(destinations.vertices)
)
at_home = np.searchsorted(minutes.sources, origins.vertices)
at_work = np.searchsorted(minutes.targets, destinations.vertices)
attraction = np.exp(-minutes.distances[np.ix_(at_home, at_work)] / 2)
trips = 40 * attraction / attraction.sum(axis=1, keepdims=True)

# %%
# All trips take their fastest paths:

pairs = np.repeat(origins.vertices, len(works)), np.tile(destinations.vertices, len(homes))
flows = kl.loads(town, (*pairs, trips.ravel()))
print(flows)

# %%

kl.draw(flows, unit="trips", title="Trips a day")

# %%
# The flows belong to rows of the map. Without the street that carries most, its trips go elsewhere:

busiest = int(flows.rows.argmax())
closed = kl.loads(town.update(rows={busiest: np.inf}), (*pairs, trips.ravel()))
more = closed.rows - flows.rows
print(f"street {busiest} carried {flows.rows[busiest]:.0f} trips, now {closed.rows[busiest]:.0f}")
print(f"{(more > 50).sum()} streets carry 50 trips more, street {more.argmax()} {more.max():.0f}")
print(f"all trips together take {(closed.total_cost - flows.total_cost) / 60:.1f} hours longer")

# %%
# A file for maps, along the lines of the streets and in degrees, whatever the map was in:

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "flows.geojson")
    flows.save(path)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")

flows.to_geojson()["features"][busiest]["properties"]
