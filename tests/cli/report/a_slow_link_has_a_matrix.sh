# A case lists the links of the kind that is to blame with the sizes of their transfers, and no links if none is; the
# page rings the slow one in the matrix, and it has the least bandwidth of its size.
tell() {
	"$FAILSLOW" "$@" --report page.html --format json >case.json
	python3 - <<'END'
import json, re
case, page = json.load(open("case.json")), open("page.html").read()
links = (case["pictures"] or case["capture"])["links"]
print(case["verdict"], links and [len(links), links[0]["ranks"], links[0]["ms"] > 2 * links[0]["usualMs"],
      all(link["ms"] < 1.1 * link["usualMs"] for link in links[1:])])
matrix = re.search('<svg class="c matrix".*?</svg>', page)
print(matrix and matrix[0].count('class="ring"'), matrix and re.findall("<title>(rank[^:]*): .{0,160}>culprit<", matrix[0]))
rates = {}
for link in links or []:
    for size in link["sizes"]:
        rates.setdefault((link["operation"], size["bytes"]), []).append(size["bytes"] / size["ms"])
first = links and links[0]["sizes"][0]
if first:
    alike = rates[links[0]["operation"], first["bytes"]]
    print(first["bytes"], first["times"], len(alike), alike[0] <= min(alike), max(alike) > 1.4 * alike[0])
chart = re.search('<svg class="c bandwidth".*?</svg>', page)
n_sizes = sum(len(link["sizes"]) for link in links or [] if link["usualMs"] > 0)
print(chart and [chart[0].count("<circle") == n_sizes, "ringed" in chart[0]])
END
}
tell "$DATASETS/faults/slow_link" --now 1750000129099703611
"$FAILSLOW" simulate job tp=2 pp=4 dp=1 steps=40 "fault=link ranks=3,5 extra_ms=300 onset=12" >/dev/null
tell job
tell "$DATASETS/faults/slow_rank"
tell profile "$DATASETS/profile/slow_rank"
python3 "$CASES/../captures/make_capture.py" capture '{"dp": 4, "grad_mb": 1200.0, "layers": 1, "faults": [{"kind": "slow_link", "ends": [0, 2], "factor": 0.3}]}' >/dev/null
tell profile capture
