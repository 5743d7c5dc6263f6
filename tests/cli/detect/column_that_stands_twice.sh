# Which of two columns counts is not known; a name with control characters stays one line.
"$FAILSLOW" simulate job tp=2 dp=2 pairs=6 steps=40 >/dev/null
for file in job/mspti/*.1.csv; do
	sed '1s/Kind/Timestamp/' "$file" >twice.csv
	rm "$file"
	cp twice.csv "$file$(printf '\033[31m\nfailslow: error: fake').csv"
done
"$FAILSLOW" detect job --output out --now 1750000150000000000 2>&1 >/dev/null
