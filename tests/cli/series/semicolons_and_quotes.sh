awk 'BEGIN { print "\"time\";\"a; b\";\"c\""; for (i = 0; i < 40; i++) print "\"day " i "\";" (i < 20 ? 10 : 20) + i % 3 ";" i % 2 }' > quoted.csv
"$FAILSLOW" series quoted.csv --column "a; b"
"$FAILSLOW" series quoted.csv --column 3
