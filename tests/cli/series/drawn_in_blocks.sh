# Bars in blocks; of more points than columns the greatest of neighbours; a drift is drawn as such; JSON stays as it is.
export COLUMNS=80
awk 'BEGIN { for (i = 0; i < 400; i++) print (i < 100 ? 20 : i < 250 ? 30 : 25) + (i * 7) % 3 }' >steps.csv
LC_ALL=C.UTF-8 "$FAILSLOW" series steps.csv
LC_ALL=C.UTF-8 COLUMNS=60 "$FAILSLOW" series steps.csv --max-points 200
awk 'BEGIN { for (i = 0; i < 80; i++) print 100 + (i < 20 ? 0 : i < 60 ? i - 20 : 40) + (i * 7) % 3 }' >drift.csv
"$FAILSLOW" series drift.csv --least-change 5
LC_ALL=C.UTF-8 "$FAILSLOW" series steps.csv --format json >blocks.json
"$FAILSLOW" series steps.csv --format json | cmp - blocks.json
