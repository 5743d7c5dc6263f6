# A configuration as sysTrace ships it must load without a warning. One note a file names what has no effect.
cat > model_config.json <<'JSON'
{
  "with_fail_slow": false, "task_stable_step": 3, "max_data_queue_steps": 1000,
  "min_startup_detection_steps": 10, "fail_slow_span_mins": 30, "training_log": "timeline",
  "fail_slow_perception_path": "out", "hang_times_mins_thr": 30, "steps_window_size": 10,
  "k_sigma": 2, "anomaly_degree_thr": 0.2, "slow_node_detection_range_times": [],
  "slow_node_detection_time_span_hours": 0.5, "slow_node_detection_path": "out",
  "data_type": "json", "root_path": "mspti", "filter_data_by_timestamp": false,
  "save_image": "image", "record_kpi": false, "use_plot": false, "max_num_normal_results": 16,
  "look_back": 20, "hccl_domain": {}, "rank_table_json": "./rank_table.json",
  "debug_data": false, "step_data_path": "step_data.csv"
}
JSON
cat > metric_config.json <<'JSON'
{
  "HcclAllReduce": {
    "metric_type": "device", "method": "sum", "priority": 20, "alarm_filter_window_size": 5,
    "space_detector": {"type": "SlidingWindowDBSCAN", "smooth": false, "smooth_window": 3},
    "time_detector": null, "type": "network"
  }
}
JSON
"$FAILSLOW" config check model_config.json
