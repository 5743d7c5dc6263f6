"$FAILSLOW" version --format json |
	python3 -c 'import json, sys; v = json.load(sys.stdin); print(sorted(v), len(v["libraries"]))'
