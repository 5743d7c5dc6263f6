printf '[1, 2,\n"three"]' > bad.json
"$FAILSLOW" series bad.json
