printf '1,2,3\n1,2,3\n' > bare.csv
"$FAILSLOW" series bare.csv --column latency
