"""The NetworkX backend: NetworkX's functions, computed by Kleene.

NetworkX finds this module through its entry point ``networkx.backends``. Every name listed in
``_kleene_networkx`` is a function here, with NetworkX's signature; its graph argument is a
:class:`KleeneGraph`, which NetworkX makes by :func:`convert_from_nx` and keeps with the original.
"""

from kleene.interop.networkx.betweenness import *  # noqa: F403
from kleene.interop.networkx.communities import *  # noqa: F403
from kleene.interop.networkx.components import *  # noqa: F403
from kleene.interop.networkx.convert import convert_from_nx, convert_to_nx
from kleene.interop.networkx.dense import *  # noqa: F403
from kleene.interop.networkx.derived import *  # noqa: F403
from kleene.interop.networkx.dispatch import can_run, on_start_tests, should_run
from kleene.interop.networkx.generic import *  # noqa: F403
from kleene.interop.networkx.graph import KleeneGraph
from kleene.interop.networkx.measures import *  # noqa: F403
from kleene.interop.networkx.simple_paths import *  # noqa: F403
from kleene.interop.networkx.terminals import *  # noqa: F403
from kleene.interop.networkx.unweighted import *  # noqa: F403
from kleene.interop.networkx.weighted import *  # noqa: F403

__all__ = [
    "KleeneGraph",
    "can_run",
    "convert_from_nx",
    "convert_to_nx",
    "on_start_tests",
    "should_run",
]
