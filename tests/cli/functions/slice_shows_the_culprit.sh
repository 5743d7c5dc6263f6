# The slice of the document is a step of the worst culprit, and convert cuts it out: work of the culprit and of a peer.
for fault in kernels=5 python=2; do
	python3 "$CASES/functions/traces.py" $fault $fault
	"$FAILSLOW" functions $fault --format json >document.json
	python3 - <<'END'
import json
piece = json.load(open("document.json"))["slice"]
print(piece)
print("--ranks {rank},{peer} --from {from} --to {to}".format(**piece), file=open("words", "w"))
END
	"$FAILSLOW" convert $fault -o slice.json $(cat words)
	python3 - <<'END'
import json
spans = {}
for event in json.load(open("slice.json"))["traceEvents"]:
    if event.get("cat") in ("kernel", "function"):
        spans.setdefault((event["pid"] - 1, event["cat"]), []).append(event["dur"] / 1e3)
print(sorted((*key, len(ms), round(sum(ms), 1)) for key, ms in spans.items()))
END
done
python3 "$CASES/functions/traces.py" healthy
"$FAILSLOW" functions healthy --format json | python3 -c 'import json, sys; print(json.load(sys.stdin)["slice"])'
