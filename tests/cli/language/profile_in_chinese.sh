LC_ALL=zh_CN.UTF-8 "$FAILSLOW" profile "$DATASETS/profile/slow_rank"
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" profile "$DATASETS/profile/slow_rank" --ranks 0-3 --steps 11 --long
