# The page of functions has the verdict, the five sections, call paths and the command for a timeline; the page of the
# document is the same. Without a culprit it blames nobody, and a section that was not asked for says so.
tell() {
	python3 - "$1" <<'END'
import html, re, sys
page = open(sys.argv[1]).read()
print(html.unescape(re.search('<h1 id="headline"[^>]*>(.*?)</h1>', page)[1]))
print(re.findall('<section id="([a-z-]+)"', page), len(page.encode()) <= 60000)
for id in ("who", "where", "why", "cost"):
    print(id, re.sub("<[^>]*>", "", re.search(f'<dd id="{id}">(.*?)</dd>', page)[1]))
print(re.search("<code>(failslow convert .*?)</code>", page)[1], page.count('class="ring"'))
frames = re.findall('<svg class="fr( hot)?".*?<title>(.*?)</title>', page)
print([(bool(hot), re.sub("<[^>]*>", "", title)) for hot, title in frames])
END
}
python3 "$CASES/functions/traces.py" slow python=2 kernels=5
"$FAILSLOW" functions slow --report now.html --format json >slow.json
"$FAILSLOW" report slow.json -o slow.html
cmp now.html slow.html
tell slow.html
python3 "$CASES/functions/traces.py" storm copies=4
"$FAILSLOW" functions storm --report storm.html >text
tell storm.html
python3 "$CASES/functions/traces.py" healthy
"$FAILSLOW" functions healthy --section python --worker 0-3 --report healthy.html >text
tell healthy.html
grep -c 'class="empty"' healthy.html
"$FAILSLOW" functions healthy --report /dev/null/page.html || echo "$?"
