# The files of sysTrace's later generation: tp equal to dp, device memory, a detector that failslow lacks.
cat > model_config.json <<'JSON'
{
  "fail_slow_span_mins": 30, "enable_hbm_detect": false, "hbm_data_path": "/home/hbm",
  "hbm_sample_interval_min": 1, "k_sigma": 2, "root_path": "mspti", "gpu_or_npu": "gpu",
  "hccl_domain": {"tp": [[0, 1, 2, 3]], "dp": [[0, 1, 2, 3]]},
  "fail_slow_ops": {"cal_slow": "ncclDevKernel_AllReduce_Sum_f32_RING_LL"}
}
JSON
cat > metric_config.json <<'JSON'
{
  "ncclDevKernel_AllReduce_Sum_f32_RING_LL": {
    "metric_type": "device", "priority": 20, "type": "compute", "time_detector": null,
    "space_detector": {"type": "SlidingWindowKSigma", "deviation_ratio_thresh": 1.1}
  }
}
JSON
"$FAILSLOW" config check model_config.json
"$FAILSLOW" detect "$DATASETS/faults/slow_rank" --config model_config.json --now 2025-06-15T15:08:00Z --format line -o out
