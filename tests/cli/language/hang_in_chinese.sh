LC_ALL=zh_CN.UTF-8 "$FAILSLOW" --config "$DATASETS/faults/hang/model_config.json" --now 2025-06-15T16:00:00Z --output out | sed '/^  结论/d; /^  感知/d'
