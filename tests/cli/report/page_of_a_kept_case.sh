# The page of a kept case has the words of the terminal, and is the page of --report.
"$FAILSLOW" "$DATASETS/faults/slow_rank" --output verdicts --report now.html --quiet
"$FAILSLOW" report verdicts/failslow_slow_rank.json -o slow_rank.html
"$FAILSLOW" report verdicts/failslow_slow_rank.json --svg grid -o grid.svg
cmp now.html slow_rank.html
python3 - <<'END'
import json, re
page, case = open("slow_rank.html").read(), json.load(open("verdicts/failslow_slow_rank.json"))
print(re.sub("</?span[^>]*>", "", re.search('<h1 id="headline"[^>]*>(.*?)</h1>', page)[1]) == case["headline"])
print(re.findall('<section id="([a-z-]+)"', page))
print(re.search('<dd id="who">(.*?)</dd>', page)[1].count("5"), len(page.encode()) <= 60000)
print(open("grid.svg").read()[:4])
END
