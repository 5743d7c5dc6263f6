# The manual's example: parameters of one detector.
"$FAILSLOW" list detectors --format json > detectors.json
python3 - <<'PYTHON'
import json
detectors = {d["name"]: d for d in json.load(open("detectors.json"))}
dbscan = detectors["SlidingWindowDBSCAN"]
assert dbscan["scope"] == "group" and "exec" in dbscan["metrics"], dbscan
eps = [p for p in dbscan["parameters"] if p["key"] == "eps"][0]
assert eps["type"] == "number" and eps["default"] == 0.4 and eps["help"], eps
for detector in detectors.values():
    for parameter in detector["parameters"]:
        assert parameter["key"] and parameter["help"], (detector["name"], parameter)
PYTHON
