# Pictures of functions stand alone, each with its style and its nested frames; a document without operations of kernels
# has no roofline, and a picture of cases is none of functions.
python3 "$CASES/functions/traces.py" slow python=2 kernels=5
"$FAILSLOW" functions slow --format json >slow.json
for picture in shares function paths roofline grid; do
	"$FAILSLOW" report slow.json --svg $picture -o $picture.svg || echo "$picture $?"
done
python3 - <<'END'
import pathlib, xml.dom.minidom
for path in sorted(pathlib.Path(".").glob("*.svg")):
    text = path.read_text()
    xml.dom.minidom.parseString(text)
    print(path, text.count("<style>"), text.count("<svg"), text.count("ring\""), "section" in text)
END
