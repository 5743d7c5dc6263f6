# Names of hosts and folders that are markup are shown as text.
"$FAILSLOW" "$DATASETS/faults/slow_rank" --output out --quiet
python3 - <<'END'
import json
case = json.load(open("out/failslow_slow_rank.json"))
evil = "<script>alert(1)</script>\"'&--><img src=x onerror=alert(2)>"
def spoil(value):
    if isinstance(value, dict):
        return {key: value if key == "schema" else spoil(value) for key, value in value.items()}
    if isinstance(value, list):
        return [spoil(item) for item in value]
    return evil if isinstance(value, str) and not value.startswith("eJ") else value
json.dump(spoil(case), open("evil.json", "w"))
END
"$FAILSLOW" report evil.json -o evil.html
"$FAILSLOW" report evil.json --svg strip -o strip.svg
python3 - <<'END'
import xml.dom.minidom
page = open("evil.html").read()
print(page.count("<script>"), page.count("<img"), "&lt;script&gt;alert(1)" in page)
xml.dom.minidom.parse("strip.svg")
END
