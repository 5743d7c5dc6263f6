#!/usr/bin/env python3
"""Writes the goldens of this folder: the documented rules in plain Python, from first principles.

usage: make_goldens.py [FOLDER]     (default: the folder of this script)

Nothing here is shared with the C program; docs/users/detectors.md is the specification of both.
Inputs come from random.Random with fixed seeds, or are small enough to check by hand.
"""
import json
import math
import os
import random
import statistics
import sys


def dbscan(points, eps, min_samples):
    """Labels by the definition: connected core points, borders to the lowest-numbered cluster."""
    n = len(points)
    near = [[j for j in range(n)
             if sum((a - b) ** 2 for a, b in zip(points[i], points[j])) <= eps * eps]
            for i in range(n)]
    core = [len(near[i]) >= min_samples for i in range(n)]
    labels, number = [-1] * n, 0
    for seed in range(n):
        if not core[seed] or labels[seed] != -1:
            continue
        queue = [seed]
        labels[seed] = number
        for i in queue:
            for j in near[i] if core[i] else []:
                if labels[j] == -1:
                    labels[j] = number
                    queue.append(j)
        number += 1
    return labels


def mode(labels):
    """Most frequent; the one that occurs first among equals."""
    return max(dict.fromkeys(labels), key=labels.count)


def percentile(values, q):
    ordered = sorted(values)
    position = (len(ordered) - 1) * q / 100
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def filter_runs(labels, window):
    kept = [0] * len(labels)
    for end in range(window, len(labels) + 1):
        if all(labels[end - window:end]):
            kept[end - window:end] = [1] * window
    return kept


class Training:
    """The training window of the sliding k-sigma."""

    def __init__(self, method):
        self.method, self.values, self.cursor = method, [], 0

    def add(self, value):
        if len(self.values) < self.method["training_window_size"]:
            self.values.append(value)
            self.cursor += 1
        else:
            self.cursor = (self.cursor + 1) % len(self.values)
            self.values[self.cursor] = value

    def bounds(self):
        method = self.method
        values = sorted(self.values)[1:-1] if len(self.values) >= 10 else self.values
        mean, sigma = statistics.fmean(values), statistics.pstdev(values)
        sigma = sigma if sigma > 0 else method["min_std_val"]
        upper = mean + method["nsigma_coefficient"] * sigma
        lower = mean - method["nsigma_coefficient"] * sigma
        up, down = method["bias"] * upper, method["bias"] * lower
        if method["abs_bias"]:
            up, down = max(up, method["abs_bias"]), max(down, method["abs_bias"])
        upper, lower = upper + up, lower - down
        for key, choose in (("max_expert_lower_bound", min), ("min_expert_lower_bound", max)):
            lower = lower if method[key] is None else choose(lower, method[key])
        for key, choose in (("min_expert_upper_bound", max), ("max_expert_upper_bound", min)):
            upper = upper if method[key] is None else choose(upper, method[key])
        return lower, upper

    def judge(self, value, is_noisy):
        if len(self.values) < self.method["min_update_window_size"]:
            if not is_noisy:
                self.add(value)
            return 0, None, None
        lower, upper = self.bounds()
        kind = self.method["detect_type"]
        label = int({"lower_bound": value < lower, "upper_bound": value >= upper}.get(
            kind, value > upper or value < lower))
        if not label:
            self.add(value)
        return label, lower, upper


def method_of(**changes):
    method = {"type": "SlidingWindowNSigma", "training_window_size": 20,
              "min_update_window_size": 10, "min_std_val": 1e-4, "bias": 0.1, "abs_bias": None,
              "nsigma_coefficient": 4, "detect_type": "upper_bound",
              "min_expert_lower_bound": None, "max_expert_lower_bound": None,
              "min_expert_upper_bound": None, "max_expert_upper_bound": None}
    method.update(changes)
    return method


METHODS = [
    method_of(),
    method_of(detect_type="lower_bound", nsigma_coefficient=3, bias=0.05),
    method_of(detect_type="bi_bound", abs_bias=2, training_window_size=7,
              min_update_window_size=4),
    method_of(min_expert_upper_bound=120, max_expert_lower_bound=80, detect_type="bi_bound"),
    method_of(max_expert_upper_bound=104, min_expert_lower_bound=97, bias=0),
]


def series(seed, n=90):
    """Level 100 with noise, a rise, a fall and a spike."""
    source = random.Random(seed)
    values = [100 + source.gauss(0, 1.5) for _ in range(n)]
    begin = source.randrange(n // 3, n // 2)
    length = source.randrange(3, n // 4)
    for i in range(begin, begin + length):
        values[i] += source.choice([-1, 1]) * 30 if seed % 4 == 3 else 30 - 60 * (seed % 2)
    values[source.randrange(n)] += 80
    return values


def nsigma_online():
    cases = []
    for seed, method in enumerate(METHODS * 2):
        values = series(seed)
        noisy = [int(abs(v - 100) > 10) for v in values]
        training = Training(method)
        steps = [training.judge(v, m) for v, m in zip(values, noisy)]
        cases.append({"params": method, "values": values, "noisy": noisy,
                      "labels": [s[0] for s in steps], "lower": [s[1] for s in steps],
                      "upper": [s[2] for s in steps], "final_buffer": training.values,
                      "final_cursor": training.cursor})
    return cases


def nsigma_detector():
    cases = []
    for seed, method in enumerate(METHODS * 2, start=100):
        values = series(seed)
        params = {"preprocess_eps": 0.08, "preprocess_min_samples": 4, "n_sigma_method": method,
                  "alarm_filter_window_size": 1 + seed % 5}
        least, span = min(values), max(values) - min(values)
        clusters = dbscan([((v - least) / span,) for v in values], 0.08, 4)
        usual = mode(clusters)
        noise = [int(c != usual) for c in clusters]
        training = Training(method)
        labels = [training.judge(v, m)[0] for v, m in zip(values, noise)]
        cases.append({"params": params, "values": values, "noise_mask": noise, "labels": labels,
                      "filtered": filter_runs(labels, params["alarm_filter_window_size"])})
    return cases


def tsdbscan_labels(values, params):
    least, greatest = min(values), max(values)
    if greatest > least:
        scaled = [(v - least) / (greatest - least + 1e-5) for v in values]
    else:
        scaled = [0.0] * len(values)
    clusters = dbscan([(v,) for v in scaled], params["eps"], params["min_samples"])
    usual = mode(clusters)
    labels = [int(c != usual) for c in clusters]
    mean = statistics.fmean(v for v, label in zip(scaled, labels) if not label)
    sides = {"upper_bound": lambda v: v >= mean, "lower_bound": lambda v: v <= mean}
    keep = sides.get(params["detect_type"], lambda v: True)
    return [int(label and keep(v)) for v, label in zip(scaled, labels)]


def tsdbscan():
    cases = []
    for seed in range(200, 209):
        params = {"eps": 0.05, "min_samples": 4, "smooth_win": 1 + seed % 5, "k_thr": 0.02,
                  "detect_type": ["upper_bound", "lower_bound", "bi_bound"][seed % 3]}
        values = series(seed, 70)
        size = params["smooth_win"]
        means = [statistics.fmean(values[i + 1 - size:i + 1]) for i in range(size - 1, 70)]
        smoothed = [means[0]] * (size - 1) + means
        cases.append({"params": params, "values": values,
                      "labels_no_smoothing": tsdbscan_labels(values, params),
                      "smoothed": smoothed, "labels": tsdbscan_labels(smoothed, params)})
    return cases


def distances(rows, params):
    columns, size = list(zip(*rows)), params["window_size"]
    return [[round(math.dist(p, q) / size, 6) for q in columns] for p in columns]


def block_labels(rows, params):
    flat = [v for row in rows for v in row]
    n = len(rows[0])
    spread = (max(flat) - min(flat)) / max(2 * abs(statistics.median(flat)), 1e-8)
    if not spread > params["cv_threshold"]:
        return [0] * n
    clusters = dbscan(distances(rows, params), params["eps"], params["min_samples"])
    known = [c for c in clusters if c != -1]
    usual = mode(known) if known else -1
    return [int(c != usual) for c in clusters]


def smoothed_column(values, size):
    """Convolution with a box of mean 1, its middle part: as long as the input."""
    full = [sum(values[max(0, i - size + 1):i + 1]) / size
            for i in range(len(values) + size - 1)]
    begin = (size - 1) // 2
    return full[begin:begin + len(values)]


def sliding_window_dbscan():
    cases = []
    for seed in range(300, 308):
        source = random.Random(seed)
        n, n_windows = 4 + seed % 5, 20 + 7 * (seed % 4)
        params = {"dist_metric": "euclidean", "eps": 0.5, "cv_threshold": 0.03, "min_samples": 2,
                  "window_size": 10, "scaling": seed % 3 == 0, "smooth": seed % 4 == 1}
        rows = [[50 + source.gauss(0, 0.3) for _ in range(n)] for _ in range(n_windows)]
        for w in range(n_windows // 2, n_windows):
            rows[w][seed % n] += 8 - 16 * (seed % 2)
        if seed % 3 == 0:
            rows = [[v * 30 for v in row] for row in rows]
        scaled = rows
        if params["smooth"]:
            scaled = list(zip(*(smoothed_column(column, 10) for column in zip(*rows))))
        if params["scaling"]:
            greatest = max(v for row in scaled for v in row)
            divisor = 10 ** math.ceil(math.log10(greatest / 100)) if greatest > 100 else 1
            scaled = [[v / divisor for v in row] for row in scaled]
        labels = [[0] * n for _ in rows]
        for end in range(n_windows, 0, -params["window_size"]):
            begin = max(0, end - params["window_size"])
            answer = block_labels(scaled[begin:begin + params["window_size"]], params)
            for w in range(begin, begin + params["window_size"]):
                labels[w] = answer
        cases.append({"params": params, "values_time_by_node": rows, "labels_time_by_node": labels,
                      "last_window_similarity": distances(scaled[-10:], params)})
    return cases


def outer_row(row, params):
    """The set of deviating values of one window."""
    ordered = sorted(row)
    if not ordered[-1] > params["base_threshold"]:
        return set()
    gaps = [b - a for a, b in zip(ordered, ordered[1:])]
    first = max(gaps)
    second = max(gaps[:gaps.index(first)] + gaps[gaps.index(first) + 1:])
    if not first / (sum(gaps) + 1e-8) > params["first_gap_rate"]:
        return set()
    is_close = first / (second + 1e-8) < 1 + params["second_gap_rate"]
    cuts = [i for i, gap in enumerate(gaps) if gap == first and gaps.count(first) == 1
            or is_close and gap == second]
    if not cuts:
        return set()
    low = ordered[:cuts[0] + 1]
    high = ordered[(cuts[1] if len(cuts) == 2 else cuts[0]) + 1:]
    if len(low) == len(high):
        return set()
    odd, usual = sorted((low, high), key=len)
    means = sorted((statistics.fmean(odd), statistics.fmean(usual)))
    reach = params["nsigma_coefficient"] * statistics.pstdev(usual)
    is_far = abs(means[1] - means[0]) > reach
    if means[1] / (means[0] + 1e-8) > params["discrete_rate"] and is_far:
        return set(odd)
    return set()


def outer_data_detector():
    cases = []
    for seed in range(400, 410):
        source = random.Random(seed)
        n, n_windows = 4 + seed % 6, 40
        params = {"first_gap_rate": 0.3, "second_gap_rate": 0.2 + 0.5 * (seed % 2),
                  "base_threshold": 150, "discrete_rate": 1.3, "nsigma_coefficient": 2,
                  "discrete_point_suppression_ratio": 0.05, "non_major_anomaly_suppression": 0.1}
        rows = [[200 + source.gauss(0, 6) for _ in range(n)] for _ in range(n_windows)]
        for w in range(10, 10 + 4 * (seed % 7)):
            rows[w][seed % n] += 150
        rows[2][(seed + 1) % n] += 200
        labels = [[int(v in outer_row(row, params)) for v in row] for row in rows]
        for m in range(n):
            column = [0] + [row[m] for row in labels] + [0]
            lone = [w for w in range(n_windows) if column[w:w + 3] == [0, 1, 0]]
            for w in lone if len(lone) <= 0.05 * n_windows else []:
                labels[w][m] = 0
        counts = [sum(row[m] for row in labels) for m in range(n)]
        rest = 1 - max(counts) / (sum(counts) + 1e-8)
        if rest < params["non_major_anomaly_suppression"]:
            major = counts.index(max(counts))
            labels = [[int(m == major and any(row)) for m in range(n)] for row in labels]
        cases.append({"params": params, "values_time_by_node": rows,
                      "labels_time_by_node": labels})
    return cases


def step_ksigma():
    cases = []
    for seed in range(500, 508):
        source = random.Random(seed)
        steps = [1000 + round(source.gauss(0, 15)) for _ in range(80)]
        for i in range(40, 40 + seed % 8):
            steps[i] += 450
        steps[60] += 5000
        params = {"steps_window_size": 5 + seed % 6, "k_sigma": 2 + seed % 2,
                  "anomaly_degree_thr": 0.2}
        size, info = params["steps_window_size"], []
        for i in range(size, len(steps) - 1):
            mean, sigma = statistics.fmean(steps[i - size:i]), statistics.pstdev(steps[i - size:i])
            if all(x - mean > params["k_sigma"] * sigma and (x - mean) / mean > 0.2
                   for x in steps[i:i + 2]):
                info.append({"training_step": i,
                             "anomaly_degree": round((steps[i] - mean) / mean, 3),
                             "anomaly_training_time": f"{steps[i]}ms",
                             "normal_training_time": f"{mean}ms"})
        cases.append({"params": params, "step_time_ms": steps,
                      "result": {"anomaly_count_times": len(info), "anomaly_info": info}})
    return cases


def clusters_by_hand():
    """Small enough to check with a pencil."""
    return [
        {"eps": 1, "min_samples": 2, "X": [[0], [1], [5], [6], [10]], "labels": [0, 0, 1, 1, -1]},
        {"eps": 1, "min_samples": 3, "X": [[0], [1], [2], [3], [4.5]],
         "labels": [0, 0, 0, 0, -1]},
        {"eps": 5, "min_samples": 2, "X": [[0, 0], [3, 4], [6, 8], [20, 0]],
         "labels": [0, 0, 0, -1]},
        {"eps": 2, "min_samples": 4, "X": [[8], [7], [9], [8.5], [5], [1], [2], [3], [1.5]],
         "labels": [0, 0, 0, 0, 0, 1, 1, 1, 1]},
        {"eps": 0, "min_samples": 2, "X": [[7], [7], [8]], "labels": [0, 0, -1]},
        {"eps": 100, "min_samples": 9, "X": [[1], [2]], "labels": [-1, -1]},
    ]


def dbscan_cases():
    cases = clusters_by_hand()
    for case in cases:
        assert dbscan(case["X"], case["eps"], case["min_samples"]) == case["labels"]
    for seed in range(600, 612):
        source = random.Random(seed)
        dim = 1 + seed % 3
        points = [[source.uniform(0, 10) for _ in range(dim)] for _ in range(60)]
        eps, least = 0.2 + 0.3 * (seed % 4), 2 + seed % 4
        cases.append({"eps": eps, "min_samples": least, "X": points,
                      "labels": dbscan(points, eps, least)})
    return cases


def percentiles():
    cases = []
    for seed, n in enumerate([1, 2, 3, 10, 127, 128, 129, 1000]):
        source = random.Random(700 + seed)
        values = [source.lognormvariate(3, 1) for _ in range(n)]
        cases.append({"values": values,
                      "q": {q: percentile(values, float(q))
                            for q in ("0", "0.1", "1", "10", "25", "33.3", "50", "90", "99.9", "100")},
                      "min": min(values), "max": max(values), "mean": statistics.fmean(values),
                      "median": statistics.median(values), "std": statistics.pstdev(values),
                      "sum": math.fsum(values)})
    return cases


def alarm_filter():
    cases = [{"window": 3, "labels": [1, 1, 0, 1, 1, 1, 0, 1], "filtered": [0, 0, 0, 1, 1, 1, 0, 0]}]
    for seed in range(800, 810):
        source = random.Random(seed)
        labels = [int(source.random() < 0.7) for _ in range(40)]
        cases.append({"window": 1 + seed % 6, "labels": labels,
                      "filtered": filter_runs(labels, 1 + seed % 6)})
    return cases


GOLDENS = {
    "alarm_filter": (alarm_filter, "only runs of at least `window` ones stay"),
    "dbscan": (dbscan_cases, "labels of DBSCAN; the first six cases are made by hand"),
    "nsigma_detector": (nsigma_detector, "SlidingWindowKSigmaDetector on one series"),
    "nsigma_online": (nsigma_online, "bounds, labels and training window, point by point"),
    "outer_data_detector": (outer_data_detector, "OuterDataDetector, rows are windows"),
    "percentiles": (percentiles, "aggregates of one list of numbers"),
    "sliding_window_dbscan": (sliding_window_dbscan, "SlidingWindowDBSCAN, rows are windows"),
    "step_ksigma": (step_ksigma, "StepKSigma on whole milliseconds"),
    "tsdbscan": (tsdbscan, "TSDBSCAN on the series and on its rolling mean"),
}


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for name, (make, about) in GOLDENS.items():
        with open(os.path.join(folder, f"{name}.json"), "w", encoding="utf-8") as stream:
            json.dump({"about": about, "cases": make()}, stream)
            stream.write("\n")


if __name__ == "__main__":
    main()
