# Each list is right by itself; together they are refused by detect, and so by check.
printf '{"hccl_domain": {"tp": [[0, 1], [1, 2]]}}\n' >model_config.json
"$FAILSLOW" config check model_config.json
