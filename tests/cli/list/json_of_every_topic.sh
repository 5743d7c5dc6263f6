for topic in detectors formats reporters metrics commands causes; do
	"$FAILSLOW" list "$topic" --format json |
		python3 -c 'import json, sys; print(len(json.load(sys.stdin)) > 3)'
done
