"""Writes a table of operations of 2 stages and 4 replicas: optable.py FILE [RANK=FACTOR...] (rank = 2 * replica + stage).

Each of 3 steps has two passes forward and backward a stage, transfers of 1 ms, and reduces gradients; a factor makes all
passes of a worker longer.
"""
import sys

STEPS, REPLICAS, PASS, MOVE = 3, 4, 0.1, 0.001


def passes(replica, factors):
    """Rows (stage, type, seq, begin, end) of a replica, and the end of each stage."""
    a, b = (PASS * factors.get(2 * replica + stage, 1.0) for stage in (0, 1))
    f0 = a + MOVE + b
    b0 = f0 + b
    f1 = max(b0, 2 * a + MOVE) + b
    b1 = f1 + b
    back0 = max(2 * a, b0 + MOVE) + a
    back1 = max(back0, b1 + MOVE) + a
    return [(0, "forward-compute", 0, 0.0, a), (0, "forward-compute", 1, a, 2 * a),
            (0, "backward-compute", 0, back0 - a, back0), (0, "backward-compute", 1, back1 - a, back1),
            (1, "forward-compute", 0, f0 - b, f0), (1, "backward-compute", 0, b0 - b, b0),
            (1, "forward-compute", 1, f1 - b, f1), (1, "backward-compute", 1, b1 - b, b1),
            (0, "forward-send", 0, a, a + MOVE), (0, "forward-send", 1, 2 * a, 2 * a + MOVE),
            (1, "forward-recv", 0, 0.0, a + MOVE), (1, "forward-recv", 1, a + MOVE, 2 * a + MOVE),
            (1, "backward-send", 0, b0, b0 + MOVE), (1, "backward-send", 1, b1, b1 + MOVE),
            (0, "backward-recv", 0, 0.0, b0 + MOVE), (0, "backward-recv", 1, b0 + MOVE, b1 + MOVE)], (back1, b1)


def main():
    factors = {int(rank): float(factor) for rank, factor in (word.split("=") for word in sys.argv[2:])}
    lines = ["dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc"]
    for step in range(STEPS):
        jobs = [passes(replica, factors) for replica in range(REPLICAS)]
        last = max(max(ends) for _, ends in jobs) + 2 * MOVE
        for replica, (rows, ends) in enumerate(jobs):
            embedded = max(ends) + MOVE
            for stage in (0, 1):
                rows += [(stage, "gc", 0, ends[stage], ends[stage]),
                         (stage, "layernorm-grads-all-reduce", 0, ends[stage], ends[stage]),
                         (stage, "embedding-grads-all-reduce", 0, ends[stage], embedded),
                         (stage, "grads-reduce-scatter", 0, embedded, last),
                         (stage, "optimizer-clip-main-grad", 0, last, last + MOVE),
                         (stage, "optimizer", 0, last + MOVE, last + 5 * MOVE)]
            lines += [f"{replica},{stage},{2 * replica + stage},{step},{kind},{10 * step + begin:.9f},{end - begin:.9f},"
                      f"{seq},0,{seq},{stage}" for stage, kind, seq, begin, end in rows]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


main()
