# The page of hosts: drawn from what was read, or from the document that was printed; its pictures stand alone. Names
# that are markup are shown as text, and damaged parts of a document are not drawn.
python3 "$CASES/hostbound/traces.py" job marks hog=10-20 irq
"$FAILSLOW" hostbound job --report page.html --format json >hosts.json
"$FAILSLOW" report hosts.json -o again.html
cmp page.html again.html
for picture in cpus held steps states latency grid; do
	"$FAILSLOW" report hosts.json --svg $picture -o $picture.svg || echo "$picture $?"
done
cat >check.py <<'END'
import json, pathlib, re, subprocess, xml.dom.minidom
evil = "<script>alert(1)</script>\"'&--><img src=x>"
document = json.loads(pathlib.Path("hosts.json").read_text())
for path in sorted(pathlib.Path(".").glob("*.svg")):
    text = path.read_text()
    xml.dom.minidom.parseString(text)
    print(path, text.count("<style>"), text.count('class="excess"') > 0, "section" in text)
page = pathlib.Path("page.html").read_text()
print(len(page.encode()) <= 60000, re.findall('<dd id="why"><b>([^<]*)<', page), page.count("<details>"))

def spoilt(value, key=""):
    if isinstance(value, dict):
        return {name: spoilt(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [spoilt(item, key) for item in value]
    return evil if isinstance(value, str) and key not in ("schema", "holders", "waits", "kind", "cause") else value

def draw(what, document):
    text = subprocess.run([PROGRAM, "report", "-"], input=json.dumps(document), capture_output=True, text=True)
    page = text.stdout
    print(what, text.returncode, page.count("<script>"), page.count("<img"), [page.count(f'<svg class="c {name}"') for name in
          ("cpus", "held", "steps", "states", "latency")])

draw("hostile", spoilt(document))
picture = document["traces"][0]["picture"]
picture["lanes"][0]["waits"] += "w"
picture["lanes"][1]["holders"] = "x<" * 240
picture["steps"] = [{"step": -1}, 7, {"step": 1e300, "runMs": 1}, {"step": 3, "runMs": -5}, None]
picture["ranks"][0]["runMs"] = 1e300
picture["preempted"] = {"toldRank": {"count": 9, "buckets": [{"belowMs": 0}, {"belowMs": -1}]}}
draw("damaged", document)
document["traces"][0]["picture"] = None
draw("without a picture", document)
draw("without traces", {"schema": "failslow.hostbound/1", "traces": []})
END
sed -i "s|PROGRAM,|\"$FAILSLOW\",|" check.py
python3 check.py
