printf 'time,value\n1,2\n2,"x y"\n' > bad.csv
"$FAILSLOW" series bad.csv
