echo '{"k_sigma": 2.5}' > model_config.json
"$FAILSLOW" config explain model_config.json --format json > explained.json
python3 - <<'PYTHON'
import json
rows = {row["key"]: row for row in json.load(open("explained.json"))}
assert rows["k_sigma"] == {"key": "k_sigma", "value": 2.5, "from": "model_config.json"}
assert rows["jobs"]["from"] == "default" and rows["jobs"]["value"] == 0
assert rows["HcclAllGather.aggregation.during_s"]["value"] == 3
assert rows["HcclAllGather.time_detector.n_sigma_method.abs_bias"]["value"] is None
PYTHON
