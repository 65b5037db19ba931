"""The description of the backend ``kleene`` that NetworkX reads on import; imports nothing else."""

from __future__ import annotations

from typing import Any

__all__ = ["get_info"]

_ROWS = "Distances are computed on all cores; each row becomes a dictionary on demand."
_REDUCED = "Distances are computed on all cores and reduced without building dictionaries."
_TIES = "Ties between shortest paths are broken as in NetworkX."
_ANY_TIE = "Ties between shortest paths may be broken differently from NetworkX."
_SIGN = "Weights may be negative; cycles that are negative only by rounding errors count as zero."
_NEGATIVE = "Negative weights raise ValueError where NetworkX does."

_CORES = "Computed on all cores."
_SUMS = "Computed on all cores; sums may differ from NetworkX's in the last bits."
_POSITIVE = "Weights must be positive."

_HEURISTIC = (
    "The heuristic does not guide the search; the call is refused if it is not admissible along "
    "the path found."
)

_FUNCTIONS = {
    "all_pairs_all_shortest_paths": _ROWS,
    "all_pairs_bellman_ford_path": _SIGN,
    "all_pairs_bellman_ford_path_length": f"{_ROWS} {_SIGN}",
    "all_pairs_dijkstra": f"{_TIES} {_NEGATIVE}",
    "all_pairs_dijkstra_path": f"{_TIES} {_NEGATIVE}",
    "all_pairs_dijkstra_path_length": f"{_ROWS} {_NEGATIVE}",
    "all_pairs_shortest_path": _TIES,
    "all_pairs_shortest_path_length": _ROWS,
    "all_shortest_paths": "",
    "astar_path": f"{_HEURISTIC} {_ANY_TIE}",
    "astar_path_length": _HEURISTIC,
    "average_shortest_path_length": _REDUCED,
    "barycenter": f"{_REDUCED} `attr` and `sp` are not supported.",
    "bellman_ford_path": f"{_SIGN} {_ANY_TIE}",
    "bellman_ford_path_length": _SIGN,
    "bellman_ford_predecessor_and_distance": f"{_SIGN} `heuristic` has no effect.",
    "betweenness_centrality": f"{_SUMS} {_POSITIVE}",
    "betweenness_centrality_subset": f"{_SUMS} {_POSITIVE}",
    "bfs_edges": "`sort_neighbors` is not supported.",
    "bfs_labeled_edges": "",
    "bfs_layers": "",
    "bfs_predecessors": "`sort_neighbors` is not supported.",
    "bfs_successors": "`sort_neighbors` is not supported.",
    "bfs_tree": "`sort_neighbors` is not supported.",
    "bidirectional_dijkstra": f"In directed graphs, the search is not bidirectional. {_ANY_TIE}",
    "bidirectional_shortest_path": f"The search is not bidirectional. {_ANY_TIE}",
    "center": f"{_REDUCED} `e` is not supported.",
    "closeness_centrality": _REDUCED,
    "closeness_vitality": _REDUCED,
    "connected_components": _CORES,
    "descendants_at_distance": "",
    "diameter": f"{_REDUCED} `e` is not supported.",
    "dijkstra_path": f"{_TIES} {_NEGATIVE}",
    "dijkstra_path_length": _NEGATIVE,
    "dijkstra_predecessor_and_distance": _NEGATIVE,
    "eccentricity": f"{_REDUCED} `sp` is not supported.",
    "edge_betweenness_centrality": f"{_SUMS} {_POSITIVE}",
    "edge_betweenness_centrality_subset": f"{_SUMS} {_POSITIVE}",
    "edge_load_centrality": _SUMS,
    "efficiency": "",
    "ego_graph": "The result is a NetworkX graph.",
    "find_negative_cycle": f"{_SIGN} If there are several cycles, another one may be returned.",
    "floyd_warshall": "Computed by a search per node; negative cycles are refused.",
    "floyd_warshall_numpy": "Computed by the fastest method for the graph; negative cycles are "
    "refused.",
    "floyd_warshall_predecessor_and_distance": f"{_ANY_TIE} Negative cycles are refused.",
    "generic_bfs_edges": "`neighbors` is not supported.",
    "girvan_newman": "On one core, since sums decide ties in NetworkX's order; "
    "`most_valuable_edge` is not supported.",
    "global_efficiency": _REDUCED,
    "goldberg_radzik": f"{_SIGN} {_ANY_TIE}",
    "gutman_index": _REDUCED,
    "harmonic_centrality": _REDUCED,
    "harmonic_diameter": f"{_REDUCED} `sp` is not supported.",
    "has_path": "",
    "hyper_wiener_index": _REDUCED,
    "is_connected": "",
    "is_strongly_connected": "",
    "is_weakly_connected": "",
    "johnson": f"{_SIGN} {_ANY_TIE}",
    "local_efficiency": _REDUCED,
    "multi_source_dijkstra": f"{_TIES} {_NEGATIVE}",
    "multi_source_dijkstra_path": f"{_TIES} {_NEGATIVE}",
    "multi_source_dijkstra_path_length": _NEGATIVE,
    "negative_edge_cycle": f"{_SIGN} `heuristic` has no effect.",
    "newman_betweenness_centrality": f"{_SUMS} {_POSITIVE}",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "periphery": f"{_REDUCED} `e` is not supported.",
    "predecessor": "",
    "radius": f"{_REDUCED} `e` is not supported.",
    "schultz_index": _REDUCED,
    "shortest_path": f"{_NEGATIVE} {_ANY_TIE}",
    "shortest_path_length": _NEGATIVE,
    "shortest_simple_paths": f"On one core. {_TIES} Negative weights and weight functions are "
    "refused.",
    "single_source_all_shortest_paths": "",
    "single_source_bellman_ford": f"{_SIGN} {_ANY_TIE}",
    "single_source_bellman_ford_path": f"{_SIGN} {_ANY_TIE}",
    "single_source_bellman_ford_path_length": _SIGN,
    "single_source_dijkstra": f"{_TIES} {_NEGATIVE}",
    "single_source_dijkstra_path": f"{_TIES} {_NEGATIVE}",
    "single_source_dijkstra_path_length": _NEGATIVE,
    "single_source_shortest_path": _TIES,
    "single_source_shortest_path_length": "",
    "single_target_shortest_path": _ANY_TIE,
    "single_target_shortest_path_length": "",
    "steiner_tree": f"By Mehlhorn's method. {_TIES} Multigraphs are refused. The result is a "
    "NetworkX graph, and no view.",
    "strongly_connected_components": "In NetworkX's order, on one core.",
    "transitive_closure": "Reachability is computed on all cores; the result is a NetworkX graph.",
    "transitive_closure_dag": "`topo_order` is not supported. The result is a NetworkX graph.",
    "voronoi_cells": f"{_TIES} {_NEGATIVE}",
    "weakly_connected_components": _CORES,
    "wiener_index": _REDUCED,
}


def get_info() -> dict[str, Any]:
    """Return the backend's description for NetworkX's documentation and configuration."""
    return {
        "backend_name": "kleene",
        "project": "kleene",
        "package": "kleene",
        "short_summary": "Shortest paths on all CPU cores and on NVIDIA GPUs.",
        "description": "Shortest paths, breadth-first traversal, components, distance measures, "
        "betweenness.",
        "functions": {
            name: {"additional_docs": docs, "additional_parameters": {}} if docs else {}
            for name, docs in _FUNCTIONS.items()
        },
        "default_config": {"device": "auto", "threads": None},
    }
