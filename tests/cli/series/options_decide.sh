awk 'BEGIN { for (i = 0; i < 90; i++) print (i < 30 ? 100 : i < 60 ? 104 : 140) + i % 3 }' > two.csv
"$FAILSLOW" series two.csv
"$FAILSLOW" series two.csv --least-change 2
"$FAILSLOW" series two.csv --least-change 20
"$FAILSLOW" series two.csv --max-points 50 --format csv
"$FAILSLOW" series two.csv --min-segment 40
"$FAILSLOW" series two.csv --p-max 1e-12
"$FAILSLOW" series two.csv --penalty 100000
