"""Writes a spot trace for `dynatrain simulate`: nodes that a cloud takes back and gives again.

Synthetic: a public trace of whole GPU nodes with their notices was not searched for. Each node that is there is taken
back after an exponential time; the notice is that of a public cloud (120 s, 30 s) or, rarely, none (a node that fails). A node that
is gone comes back after an exponential time. The same seed gives the same trace on every machine.

    python3 make_spot_trace.py --seed 1 > spot.csv
"""

from __future__ import annotations

import argparse
import heapq
import random

DAY_S = 86_400
LEAVE_MEAN_S = 30 * 3_600.0  # of one node, from when it came
RETURN_MEAN_S = 2 * 3_600.0
NOTICES = ((120, 0.75), (30, 0.20), (0, 0.05))


def notice(rng: random.Random) -> int:
    """A notice in seconds, by the shares of NOTICES."""
    seconds, shares = zip(*NOTICES, strict=True)
    return int(rng.choices(seconds, shares)[0])


def events(seed: int, nodes: int, end_s: int) -> list[tuple[int, str, str, int]]:
    """Rows of the trace after the first: time, event, node, notice."""
    rng = random.Random(seed)
    heap = [(rng.expovariate(1 / LEAVE_MEAN_S), node, "-") for node in range(nodes)]
    heapq.heapify(heap)
    rows: list[tuple[int, str, str, int]] = []
    while heap:
        at, node, event = heapq.heappop(heap)
        if at >= end_s:
            continue
        if event == "-":
            seconds = notice(rng)
            rows.append((int(at), "-", f"n{node}", seconds))
            heapq.heappush(heap, (at + seconds + rng.expovariate(1 / RETURN_MEAN_S), node, "+"))
        else:
            rows.append((int(at), "+", f"n{node}", 0))
            heapq.heappush(heap, (at + rng.expovariate(1 / LEAVE_MEAN_S), node, "-"))
    return sorted(rows)


def main() -> None:
    """Prints the trace."""
    parser = argparse.ArgumentParser(description="a synthetic spot trace")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--seconds", type=int, default=DAY_S)
    args = parser.parse_args()
    print(f"# Synthetic: make_spot_trace.py --seed {args.seed} --nodes {args.nodes} --seconds {args.seconds}")
    print("time_s,event,nodes,notice_s")
    print(f"0,+,{args.nodes},")
    for at, event, node, seconds in events(args.seed, args.nodes, args.seconds):
        print(f"{at},{event},{node},{seconds if event == '-' else ''}")


if __name__ == "__main__":
    main()
