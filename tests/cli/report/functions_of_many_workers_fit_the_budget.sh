# Functions of 4,096 workers, made up, make a page of at most 1.2 MB; those of 64 at most 200 kB. Names that are markup
# are shown as text, call paths may be deep, and damaged values are not drawn.
cat >make.py <<'END'
import json, sys
n = int(sys.argv[1])
evil = "<script>alert(1)</script>\"'&--><img src=x>"
def cells(slow):
    return json.dumps([{"rank": r, "ratio": 0.4 if r in slow else 0.1 + r % 9 / 1000, "meanUs": 2e4 + r % 7, "count": 8,
                        "isAbnormal": r in slow, "differentFromOtherWorkers": 3} for r in range(n)])
usual, unusual = cells(set()), cells({33})  # put in as text: to write them each time would take seconds
workers = [{"rank": r, "host": f"node-{r // 8:04d}", "state": "culprit" if r == 33 else "victim",
            "excessRatio": 0.3 if r == 33 else 0, "excessSection": "python" if r == 33 else None, "windowMs": 900.0,
            "breakdown": {"windowMs": 800.0, "computeMs": 400.0, "exposedCommunicationMs": 200.0,
                          "exposedMemoryMs": 0.0, "idleMs": 200.0}} for r in range(n)]
paths = {"main.py: main|" + "|".join(f"m{k}.py: f{(i >> k // 3) % 4}" for k in range(2 + i)) + f"|leaf: {i}":
         {"averageRatio": 0.02, "workers": "unusual" if i == 3 else "usual"} for i in range(20)}
paths[evil] = {"averageRatio": 1e300, "workers": [{"rank": 1, "ratio": -5, "meanUs": "x"}, {"rank": 1e9}, 7, None]}
paths["|" * 100000] = {"averageRatio": None, "workers": None}
kernels = {f"{evil}{i}": {"name": evil, "shape": f"{i}_1_1|1_1_1", "medianCostUs": 1e9 + i, "bottleneckRatio": 0.01,
                          "workers": "usual"} for i in range(10)}
frames = [{"name": f"m{i}.py: f|{evil}", "parent": (i - 1) // 2 if i else None, "ratio": 0.4 / (1 + i % 5),
           "peersRatio": 0.1} for i in range(1000)]
text = json.dumps({"schema": "failslow.functions/1", "path": evil, "verdict": "culprits_and_victims", "headline": evil,
                   "options": {}, "workers": workers, "gpuCompute": {"majorKernels": kernels, "detailedReport": [[3]]},
                   "python": paths, "communication": {"ring": 3}, "gpuMemory": [1], "slice": evil,
                   "callTree": {"rank": 33, "frames": frames}})
print(text.replace('"unusual"', unusual).replace('"usual"', usual))
END
for n in 64 4096; do
	python3 make.py $n | "$FAILSLOW" report - -o page.html
	python3 - $n <<'END'
import re, sys, xml.dom.minidom
page = open("page.html").read()
budget = 200000 if sys.argv[1] == "64" else 1200000
print(sys.argv[1], len(page.encode()) <= budget, page.count("<script>"), page.count("<img"))
for name in ("shares", "one", "flame"):
    picture = re.search(f'<svg class="c {name}".*?</svg>(?=<p|<details|</div>)', page, re.S)[0]
    xml.dom.minidom.parseString(picture)
    print(name, picture.count('class="ring"') + picture.count("hot"))
END
done
printf '{"schema": "failslow.functions/1"}' | "$FAILSLOW" report - -o page.html
printf '{"schema": "failslow.functions/1", "workers": [{"rank": 4}, {"rank": 4}]}' | "$FAILSLOW" report - || echo "$?"
printf '{"schema": "failslow.functions/1", "workers": [{"rank": 4}]}' | "$FAILSLOW" report - --svg grid || echo "$?"
