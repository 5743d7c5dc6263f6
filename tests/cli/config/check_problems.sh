cat > model_config.json <<'JSON'
{
  "root_path": "mspti",
  "k_sigm": 2,
  "steps_window_size": "ten",
  "enable_comm": true,
  "jobs": 2,
  "jobs": -3,
  "hccl_domain": {"tp": [[0, 1], [2, 2]]},
  "detectors": {"ArivalLateness": {}}
}
JSON
cat > metric_config.json <<'JSON'
{
  "HcclAllGather": {
    "aggregation": {"funcs": [{"func": "percentil", "func_params": {"q": 90}}]},
    "space_detector": {"type": "SlidingWindowDBSCAN", "eps": -1, "windowsize": 22},
    "time_detector": {"type": "SlidingWindowKSigma"}
  }
}
JSON
"$FAILSLOW" config check model_config.json
