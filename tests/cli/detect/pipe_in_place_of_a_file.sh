# A pipe with the name of a marker file: nothing waits for it, its rank is missing and told.
"$FAILSLOW" simulate job tp=2 dp=2 pairs=6 steps=40 seed=1 >/dev/null
file=$(ls job/mspti/*.3.csv)
rm "$file"
mkfifo "$file"
"$FAILSLOW" detect job --output out --now 1750000150000000000 2>&1 | grep -E "warning|^[A-Z]|coverage|missing"
