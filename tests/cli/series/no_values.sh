printf 'value\n\nnan\n' > holes.csv
"$FAILSLOW" series holes.csv
