LC_ALL=zh_CN.UTF-8 "$FAILSLOW" detect "$DATASETS/faults/missing_rank" --now 2025-06-15T15:08:00Z
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" detect "$DATASETS/faults/slow_storage" --now 2025-06-15T15:09:00Z
