COLUMNS=120 "$FAILSLOW" eval families --seeds 1-1 --filter "topology=ga|moe,fault=clean" --baselines none
