# The readers alone count what the whole program counts.
"$FAILSLOW" simulate job tp=4 dp=2 steps=60 timelines=all >simulate.log
"$FAILSLOW" simulate json tp=4 dp=2 steps=60 format=json >simulate.log
rows() { "$FAILSLOW" bench --case "$1" "$2" | sed 's/.*rows=\([0-9]*\).*/\1/'; }
for case in newlines libcsv csv ingest; do
	echo "$case $(rows $case job/mspti)"
done
for case in cjson json; do
	echo "$case $(rows $case json/mspti)"
done
for case in protobuf-c timelines; do
	echo "$case $(rows $case job/timeline)"
done
"$FAILSLOW" detect job --now 1750000200000000000 --output out --format json | grep rowsRead | sort -u
