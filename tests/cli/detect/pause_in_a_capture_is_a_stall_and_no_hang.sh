# A job stood still for a day and went on: chapters before the pause do not hang, and the day is told. A clock that was first set behind 1970 makes no chapters without end, and no stall.
for pause_s in 86400 1749990000; do
	"$FAILSLOW" simulate job tp=2 dp=2 pairs=2 steps=900 seed=21 timelines=none >/dev/null
	for file in job/mspti/*.csv; do
		awk -F, -v OFS=, -v pause_s=$pause_s 'NR > 1 {
			s = substr($6, 1, 10)
			if (s < 1750000150) $6 = (s - pause_s) substr($6, 11)
		} { print }' "$file" >moved.csv
		mv moved.csv "$file"
	done
	code=0
	"$FAILSLOW" detect job --output out --now 1750001010000000000 --exit-code >screen || code=$?
	head -n 1 screen
	echo "exit code $code"
	rm -r job out
done
