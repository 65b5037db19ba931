"""What writes files: each format of graphs and results, answers in files, pictures, commands."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SIGNALS", "Writer", "writers_of_files"]

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass
class Writer:
    """Something that writes a file: always the same bytes, or what ``check`` finds right."""

    name: str
    file: str
    write: Callable[[Path], object]
    command: bool = False  # of the command line: exits by itself
    replaces: bool = True  # a file that is there; answers by ``out=`` refuse it
    check: Callable[[Path], object] | None = None
    content: bytes = b""  # that it writes
    seconds: float = 0.0  # that it takes
    lines: int = 0  # of the module that replaces files, that it executes


def writers_of_files(folder: Path) -> list[Writer]:
    """Return all writers; ``folder`` holds what they read."""
    import kleene as kl
    from kleene_lab.harness import record

    streets = kl.generate.grid(12, 12, weights=(1, 9))
    graph = kl.generate.uniform(3000, 20_000, weights=(1, 9), seed=5, directed=False)
    small = kl.generate.uniform(250, 2000, weights=(1, 9), seed=5)
    pairs = kl.sssp(small, pairs=[(i, 2 * i) for i in range(120)])
    result, drawn = (
        kl.apsp(small, sources=range(60)),
        kl.sssp(streets, 0),
    )
    prepared = kl.prepare(kl.generate.grid(40, 40, weights=(1, 9), seed=5))
    traffic = kl.loads(streets, (range(72), range(72, 144), [3] * 72))
    placed_streets = streets.with_positions([divmod(v, 12) for v in range(144)])
    placed_traffic = kl.loads(placed_streets, (range(72), range(72, 144), [3] * 72))
    lines = [record.Check("r", f"check {i}", i, 0, ("x" * 100,)) for i in range(2000)]
    ends = ["gr", "mtx", "txt", "graph", "wsg", "npz", "gr.gz", "parquet"]
    writers = [
        Writer(f"write .{end}", f"g.{end}", lambda path: kl.write(graph, path, threads=1))
        for end in ends
    ]
    writers += [
        Writer("write .npy", "g.npy", lambda path: kl.write(small, path)),
        Writer("save .npz", "r.npz", result.save),
        Writer("save .csv", "r.csv", result.save),
        Writer("save .json", "r.json", result.save),
        Writer("save .parquet", "r.parquet", result.save),
        Writer("save .npz of pairs", "p.npz", pairs.save),
        Writer("save .csv of loads", "f.csv", traffic.save),
        Writer("save .geojson of loads", "f.geojson", placed_traffic.save),
        Writer("save .kp", "p.kp", prepared.save),
        Writer(
            "matrix out=",
            "e.npy",
            lambda path: prepared.matrix(range(300), out=path),
            replaces=False,
        ),
        Writer("out=", "d.npy", lambda path: kl.apsp(small, out=path, threads=1), replaces=False),
        Writer("record", "r.jsonl", lambda path: record.write(path, lines)),
        Writer("draw .svg", "p.svg", lambda path: kl.draw(drawn, path)),
        Writer("picture .svg", "q.svg", kl.draw(drawn.graph).save),
    ]
    kl.write(small, folder / "small.npz")
    source, placed = str(folder / "small.npz"), str(folder / "placed.npz")
    kl.write(placed_streets, placed)

    (folder / "trips.csv").write_text("origin,destination,volume\n0,143,9\n5,99,2\n")

    def proved(path: Path) -> None:
        kl.Result.load(path, small).verify()

    commands: list[tuple[str, list[str], Callable[[Path], object] | None]] = [
        ("c.gr", ["convert", source, "FILE"], None),
        ("c.mtx.gz", ["convert", source, "FILE"], None),
        ("c.graphml", ["convert", source, "FILE"], None),
        ("u.npz", ["generate", "uniform", "FILE", "--n", "2000", "--m", "9000"], None),
        ("a.npy", ["apsp", source, "-o", "FILE"], None),
        ("s.csv", ["sssp", source, "-s", "0,1,2,3,4,5", "-o", "FILE"], None),
        ("b.npz", ["bfs", source, "-s", "0", "-o", "FILE", "--verify"], proved),
        ("s.npz", ["sssp", source, "-s", "0", "-o", "FILE", "--json"], proved),
        ("w.json", ["within", source, "-k", "3", "-o", "FILE"], None),
        ("n.tsv", ["nearest", source, "0", "7", "-k", "2", "-o", "FILE"], None),
        ("c.csv", ["components", source, "--strong", "-o", "FILE"], None),
        ("l.csv", ["components", source, "--largest", "FILE"], None),
        ("o.csv", ["loads", placed, str(folder / "trips.csv"), "-o", "FILE"], None),
        ("o.geojson", ["loads", placed, str(folder / "trips.csv"), "-o", "FILE"], None),
        ("q.kp", ["prepare", placed, "-o", "FILE"], None),
        ("m.csv", ["matrix", placed, "-s", "0,1,2,3,4,5,6,7", "-o", "FILE"], None),
        ("r.geojson", ["path", placed, "0", "143", "-o", "FILE"], None),
        ("k.geojson", ["k-shortest", placed, "0", "143", "-k", "20", "-o", "FILE"], None),
        ("i.geojson", ["isochrones", placed, "0", "--limit", "20", "-o", "FILE"], None),
        ("d.svg", ["draw", placed, "0", "-o", "FILE"], None),
    ]
    for file, arguments, check in commands:
        name = f"kleene {' '.join(Path(a).name for a in arguments)}"
        replaces = not file.endswith(".npy")
        writers.append(
            Writer(name, file, lambda path, a=arguments: _command(a, path), True, replaces, check)
        )
    return writers


def _command(arguments: list[str], path: Path) -> None:
    import _kleene_cli

    sys.argv = ["kleene", *(str(path) if a == "FILE" else a for a in arguments)]
    signal.signal(signal.SIGINT, _kleene_cli.leave)  # the first thing that main() does
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    _kleene_cli.main()
