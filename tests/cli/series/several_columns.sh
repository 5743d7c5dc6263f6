printf 'day,a,b\n1,2,3\n' > wide.csv
"$FAILSLOW" series wide.csv
