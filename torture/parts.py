"""The parts of the campaign, in the order in which they run and are reported."""

from __future__ import annotations

from torture.campaign import Part

PARTS: tuple[Part, ...] = (
    Part(
        "differential",
        "Every method on every device gives the right answer, and the same one; csgraph answers as "
        "SciPy does, and the NetworkX backend as NetworkX.",
        "Random graphs of all shapes and weights are solved by every method and compared with a "
        "simple solver and with verify(), then changed in ways with a known effect and solved "
        "again; so are graphs that are prepared, in good and in random orders. Failures are made "
        "smaller and printed with their seed.",
    ),
    Part(
        "faults",
        "A call for which memory, a thread or the disk does not suffice ends in an error or does "
        "without; nothing crashes, hangs or leaks, and the same call succeeds afterwards.",
        "The k-th allocation fails, for k = 1, 2, ... until the call succeeds, in every method, "
        "native function, reader and writer, and on the emulated device; so do thread starts, "
        "write, fsync, mmap, fallocate, rename and read.",
    ),
    Part(
        "fuzz",
        "A damaged or hostile file gives a graph or a KleeneError; a saved result that is proved "
        "right is right, and so is the proved answer of a prepared graph from a file.",
        "Coverage-guided fuzzing of every text parser, reader, Result.load and load_prepared, from "
        "a corpus that is kept; text is parsed whole and in small pieces, prepared graphs are read "
        "and mapped, and must give the same.",
    ),
    Part(
        "kill",
        "A file under its final name is the old one or the new one, whole, whatever ends the "
        "process that writes it; what a killed process leaves beside it goes with the next write.",
        "Every writer and the commands of kleene, over a file that is there: signals at random "
        "moments and at each line of the module that replaces files, and limits of file size, "
        "memory, open files and processor time.",
        share=0.5,
    ),
    Part(
        "stores",
        "An answer that is written block by block is finished by the same call, bit for bit as if "
        "nothing had happened, and no finished block is computed again; a damaged store or ledger "
        "is refused, or gives the right answer.",
        "Processes that write stores, row by row and by closures in rounds, are killed at random "
        "moments and lines, several times over, or meet limits of file size; ledgers and blocks "
        "are changed, cut and shuffled.",
        share=0.5,
    ),
    Part(
        "soak",
        "A process that calls for days from many threads keeps its memory, threads, files and "
        "answers; forked children can call as well, and Ctrl-C leaves nothing behind.",
        "Calls of every kind from 8 Python threads of one process, each answer compared, with "
        "forks, interrupts and cancelled calls; what is left is counted between phases.",
        share=0.7,
    ),
    Part(
        "interrupts",
        "Ctrl-C ends every call at once, by KeyboardInterrupt; no thread, descriptor, lock or "
        "temporary file is left, the same call succeeds afterwards, and a store resumes.",
        "Every public call, also those by the names of NetworkX and SciPy, is interrupted on the "
        "main thread, by signals at random moments and at random places where Python may run a "
        "signal handler; then another thread makes the same call. Stores are interrupted several "
        "times, and must keep what was recorded.",
        share=0.85,
    ),
    Part(
        "threads",
        "Threads may make any calls at once, on the same graphs, prepared graphs, results and "
        "files: they get the answers of one thread.",
        "Random public calls from up to 6 threads that take turns as often as Python can, on "
        "objects that are new in every round, so that their first uses meet.",
        share=0.85,
    ),
    Part(
        "clusters",
        "Rows that a Dask cluster writes to a store are those of one process, byte for byte, "
        "whatever is killed meanwhile; the same call resumes, and does no finished block again. "
        "Pairs and sums are the same whichever workers are killed.",
        "Workers and clients of a cluster of two processes are killed at random moments, up to "
        "three times in a call; the store, its checksums and its ledger are compared afterwards, "
        "or the paths of pairs and the sums.",
        share=0.5,
    ),
    Part(
        "schedules",
        "A search over the ranks of an MPI job gives the answer of one machine, in whatever order "
        "messages arrive; ranks never wait for each other in vain.",
        "Random graphs, partitions and sources on 1 to 9 ranks that are threads of one process, "
        "under schedules that delay and reorder messages; distances are compared to the bit, and "
        "predecessors by their arcs. Deadlocks and collectives that do not match are noticed.",
        share=0.3,
    ),
    Part(
        "ranks",
        "An MPI job of which a process dies ends, and no half-written result has its final name; "
        "the same command again gives the same bytes.",
        "Jobs of 2 to 4 ranks that read, search and write are killed by SIGKILL: a rank at any "
        "collective call, fsync or rename, or mpiexec at any moment.",
        share=0.4,
    ),
    Part(
        "estimates",
        "Betweenness within an error is within it, for all vertices and edges at once, at least as "
        "often as the confidence says.",
        "Random graphs are sampled with 200 seeds each and compared with exact numbers from plain "
        "Python; more misses than chance explains are a fault.",
        share=0.2,
    ),
    Part(
        "mutation",
        "A small mistake in the native core, or in the proof of results, does not pass the tests.",
        "Programs with one comparison, bound, operator or call changed, of which the tests must "
        "notice 95 in 100; those that compute the same are listed, with the reason. The core is "
        "built with all its mutants in long runs only. Short ones try the modules that prove "
        "answers, one after another, each with its tests, and begin with another one every day: a "
        "module fails when more of its mutants survive than may of all.",
        share=2.0,
    ),
)

#: Run by other means, and entered with ``python -m torture.record``.
BY_HAND: tuple[Part, ...] = (
    Part(
        "tests",
        "What the documentation says is what happens.",
        "The test suite: every method on every graph of a zoo, files, plans, proofs, the command "
        "line, and the examples in the documentation.",
    ),
    Part(
        "sanitizers",
        "The native core touches no memory that it should not, loses none, and has no data race.",
        "The tests of the native core under AddressSanitizer with leak detection and UBSan, and "
        "under ThreadSanitizer.",
    ),
    Part(
        "gpu",
        "The CUDA kernels touch no memory that they should not, and have no race, on a real GPU.",
        "NVIDIA's compute-sanitizer (memcheck, racecheck, synccheck) over every CUDA method.",
    ),
    Part(
        "versions",
        "Kleene works with every supported version of Python, NumPy, SciPy and NetworkX.",
        "The test suite on each installed Python, with the oldest and the newest dependencies; the "
        "last column says how much of that was run.",
    ),
)
