"""
Components
==========

In a directed network, *weak* components are joined by arcs of any direction; inside a *strong* one,
every vertex reaches every other.
"""

import kleene as kl

links = {
    "from": ["home", "news", "shop", "cart", "news", "blog", "post", "old", "older"],
    "to": ["news", "home", "cart", "shop", "shop", "post", "blog", "older", "old"],
}
g = kl.Graph.from_table(links, "from", "to")
weak, strong = kl.components(g), kl.components(g, kind="strong")
print(weak)
print(strong)
strong.to_frame()

# %%
# ``subgraph`` takes the vertices of a component:

print(kl.components(g).largest.tolist())
kl.draw(g, title="A small web", labels=True, arrows=True)
