awk 'BEGIN { print "value"; for (i = 0; i < 60; i++) print i == 7 ? 900 : i == 9 ? "NaN" : (i < 30 ? 100 : 90) + i % 3 }' > holes.csv
"$FAILSLOW" series holes.csv
