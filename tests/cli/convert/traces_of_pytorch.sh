# Kernels, calls, and functions of the host of a trace are lanes, in the range that was asked for. Lines of code stay.
python3 "$CASES/functions/traces.py" traces python=2 ranks=3
for to in 2023-11-14T22:13:20.010Z 2023-11-14T22:13:20.030Z; do
	"$FAILSLOW" convert traces -o part.json --ranks 2,0 --to $to
	python3 - <<'END'
import collections, json
events = json.load(open("part.json"))["traceEvents"]
print(sorted(collections.Counter(event["cat"] for event in events if event["ph"] == "X").items()))
print(sorted({event["name"] for event in events if event.get("cat") == "function" and "data" in event["name"]}))
END
done
