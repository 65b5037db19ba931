"""
What runs, and why?
===================

``explain`` says which method a call would use, on which device, and how much memory it needs,
before anything runs. ``verify`` proves an answer afterwards, with no trust in the method.
"""

import matplotlib.pyplot as plt
import numpy as np

import kleene as kl

g = kl.generate.dense(400, seed=1)
print(kl.explain(g, "apsp"))

# %%
# Every method gives the same answer. Here are those of the CPU on a matrix of 400 vertices; the
# times depend on the machine.

times = {}
for method in kl.methods("apsp", "cpu"):
    r = kl.apsp(g, method=method.name, device="cpu", predecessors=False)
    times[method.name] = min(
        kl.apsp(g, method=method.name, device="cpu", predecessors=False).stats.total
        for _ in range(2)
    )
proof = r.verify(sample=50)
print(proof)

# %%

names = sorted(times, key=times.get)
figure, axes = plt.subplots()
axes.barh(names[::-1], [1e3 * times[name] for name in names[::-1]], height=0.6)
axes.set(xlabel="milliseconds", title=f"All pairs of {g.n} vertices, {np.dtype(r.plan.dtype)}")
plt.show()
