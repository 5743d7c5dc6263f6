LC_ALL=zh_CN.UTF-8 "$FAILSLOW" detect "$DATASETS/faults/slow_rank" --now 2025-06-15T15:08:00Z
