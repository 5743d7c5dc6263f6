: > empty.csv
"$FAILSLOW" series empty.csv
