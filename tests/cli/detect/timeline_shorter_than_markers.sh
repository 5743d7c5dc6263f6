# The timeline ends before rank 3 becomes slow: what comes behind its last step was not judged.
"$FAILSLOW" simulate job tp=2 dp=2 pairs=6 steps=80 seed=1 timelines=first timeline_json=true fault="compute ranks=3 factor=1.4 onset=40" >/dev/null
for file in job/timeline/*; do
	n=$(wc -l <"$file")
	head -n $((n / 8 * 4)) "$file" >half && cp half "$file"
done
"$FAILSLOW" detect job --output out --now 1750000150000000000 | head -n 5
