cat > model_config.json <<'JSON'
{
  "root_path": "/data/job42",
  "k_sigma": 2.5,
  "slow_node_detection_path": "results"
}
JSON
"$FAILSLOW" config explain model_config.json
