awk 'BEGIN { for (i = 0; i < 60; i++) print 100 + (i * 7) % 5 }' > plain.csv
"$FAILSLOW" series --exit-code plain.csv
