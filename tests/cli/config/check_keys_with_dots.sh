cat > model_config.json <<'JSON'
{
  "replay.steps_max": 3,
  "chapter.kep": false,
  "enable_detect_type.enable_cal": false,
  "fail_slow_ops": {"cal_slow": "HcclAllReduce"}
}
JSON
cat > metric_config.json <<'JSON'
{
  "HcclAllReduce": {
    "aggregation.during_s": 10,
    "time_detector": {"type": "SlidingWindowKSigmaDetector", "n_sigma_method.bias": 3}
  }
}
JSON
"$FAILSLOW" config check model_config.json
"$FAILSLOW" simulate job tp=2 dp=1 steps=2 >/dev/null
"$FAILSLOW" detect --config model_config.json job --output out --quiet
