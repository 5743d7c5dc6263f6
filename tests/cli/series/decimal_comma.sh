# A decimal comma cuts every value: the row has a field too many.
printf 'value\n1,5\n2,5\n' >values.csv
"$FAILSLOW" series values.csv
