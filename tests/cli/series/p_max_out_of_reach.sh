# Not "too few points, at least 1000 are needed": no number of them would do.
awk 'BEGIN { for (i = 0; i < 40; i++) print (i < 20 ? 10 : 20) + i % 3 }' >x.csv
for p in 0 1e-300 1e-12; do
	"$FAILSLOW" series x.csv --p-max $p 2>&1 || echo "exit code $?"
done
"$FAILSLOW" series x.csv --p-max 1e-100 --profile steps 2>&1 || echo "exit code $?"
