# Each verdict has the parts that it needs, and no frame is empty.
tell() {
	"$FAILSLOW" "$@" --report page.html --quiet
	python3 -c 'import re
page = open("page.html").read()
print(re.findall("<section id=\"([a-z-]+)\"", page), page.count("class=\"empty\""))'
}
tell "$DATASETS/faults/slow_link" --now 1750000129099703611
tell "$DATASETS/faults/hang" --now 2025-06-15T16:30:00Z
tell "$DATASETS/faults/clean"
tell profile "$DATASETS/profile/slow_rank"
