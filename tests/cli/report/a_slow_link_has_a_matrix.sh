# A case lists the links of the kind that is to blame, and no links if none is; the page rings the slow one.
tell() {
	"$FAILSLOW" "$@" --report page.html --format json >case.json
	python3 - <<'END'
import json, re
case, page = json.load(open("case.json")), open("page.html").read()
links = (case["pictures"] or case["capture"])["links"]
print(case["verdict"], links and [len(links), links[0]["ranks"], links[0]["ms"] > 2 * links[0]["usualMs"],
      all(link["ms"] < 1.1 * link["usualMs"] for link in links[1:])])
matrix = re.search('<svg class="c matrix".*?</svg>', page)
print(matrix and matrix[0].count('class="ring"'), matrix and re.findall("<title>(rank[^:]*): [^<]*culprit", matrix[0]))
END
}
tell "$DATASETS/faults/slow_link" --now 1750000129099703611
"$FAILSLOW" simulate job tp=2 pp=4 dp=1 steps=40 "fault=link ranks=3,5 extra_ms=300 onset=12" >/dev/null
tell job
tell "$DATASETS/faults/slow_rank"
tell profile "$DATASETS/profile/slow_rank"
python3 "$CASES/../captures/make_capture.py" capture '{"dp": 4, "grad_mb": 1200.0, "layers": 1, "faults": [{"kind": "slow_link", "ends": [0, 2], "factor": 0.3}]}' >/dev/null
tell profile capture
