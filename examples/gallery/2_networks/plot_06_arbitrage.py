"""
A negative cycle is money
=========================

With minus the logarithm of exchange rates as weights, a cycle of negative length is a chain of
trades that ends with more than it began. ``sssp`` reports it, with its vertices.
"""

import matplotlib.pyplot as plt
import numpy as np

import kleene as kl

rates = {
    ("USD", "EUR"): 0.9210, ("EUR", "GBP"): 0.8560, ("GBP", "USD"): 1.2690,
    ("USD", "JPY"): 149.80, ("JPY", "EUR"): 0.00618, ("EUR", "CHF"): 0.9480,
    ("CHF", "USD"): 1.1410, ("GBP", "CHF"): 1.1065, ("CHF", "JPY"): 169.90,
}  # fmt: skip
table = {
    "sell": [a for a, _ in rates],
    "buy": [b for _, b in rates],
    "cost": -np.log(list(rates.values())),
}
g = kl.Graph.from_table(table, "sell", "buy", "cost")
try:
    kl.sssp(g, "USD")
except kl.NegativeCycleError as error:
    cycle = [str(v) for v in error.cycle]
    print(error)

# %%
# One unit of money on its way around:

money, steps = 1.0, [1.0]
for sell, buy in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
    money *= rates[sell, buy]
    steps.append(money)
print(f"{' → '.join([*cycle, cycle[0]])}: 1 becomes {money:.4f}")

figure, axes = plt.subplots()
angles = {v: 2 * np.pi * i / g.n for i, v in enumerate(map(str, g.labels))}
for sell, buy in rates:
    a, b = angles[sell], angles[buy]
    around = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    colour = "#d1380f" if (sell, buy) in around else "#cfcfca"
    style = {"arrowstyle": "->", "color": colour, "lw": 1.8, "shrinkA": 16, "shrinkB": 16}
    axes.annotate("", (np.cos(b), np.sin(b)), (np.cos(a), np.sin(a)), arrowprops=style)
for v, a in angles.items():
    axes.text(np.cos(a), np.sin(a), v, ha="center", va="center", weight="bold")
axes.set(xlim=(-1.4, 1.4), ylim=(-1.2, 1.2), aspect="equal")
axes.set_axis_off()
plt.show()
