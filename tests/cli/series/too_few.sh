printf 'value\n1\n2\n\nnan\n5\n' > short.csv
"$FAILSLOW" series --exit-code short.csv
