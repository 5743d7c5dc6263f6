printf 'time,value\n1,2\n2\n' > bad.csv
"$FAILSLOW" series bad.csv
