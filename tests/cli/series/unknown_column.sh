printf 'time,latency\n1,2\n' > wide.csv
"$FAILSLOW" series wide.csv --column latencies
