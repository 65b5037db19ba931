"""
Who is central?
===============

Closeness is the inverse of the mean distance to all others. Kleene is a backend of NetworkX, so the
program is the one you have; with ``backend="kleene"`` the searches run on all cores.
"""

import matplotlib.pyplot as plt
import networkx as nx

G = nx.les_miserables_graph()
closeness = nx.closeness_centrality(G, backend="kleene")
ranked = sorted(closeness, key=closeness.get, reverse=True)
for name in ranked[:5]:
    print(f"{name:12} {closeness[name]:.3f}")

# %%
# The graph, larger and lighter where closeness is higher:

positions = nx.spring_layout(G, seed=3)
values = [closeness[v] for v in G]
figure, axes = plt.subplots(figsize=(7.2, 5.4))
nx.draw_networkx_edges(G, positions, ax=axes, edge_color="#cfcfca")
nx.draw_networkx_nodes(
    G, positions, ax=axes, node_color=values, cmap="viridis", node_size=[900 * v**2 for v in values]
)
nx.draw_networkx_labels(G, positions, {v: v for v in ranked[:8]}, ax=axes, font_size=8)
axes.set_axis_off()
axes.set_title("Les Misérables, by closeness")
plt.show()
