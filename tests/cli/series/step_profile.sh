awk 'BEGIN { for (i = 0; i < 90; i++) print (i < 30 ? 500 : i < 60 ? 550 : 1500) + (i * 7) % 5 }' > steps.csv
"$FAILSLOW" series steps.csv --format csv
"$FAILSLOW" series steps.csv --format csv --profile steps
