# The times that are there are printed; values without one are said.
values=$(awk 'BEGIN { for (i = 0; i < 40; i++) printf "%s%d", (i > 0 ? "," : ""), (i < 20 ? 10 : 20) + i % 3 }')
times=$(awk 'BEGIN { for (i = 0; i < 30; i++) printf "%s\"t%d\"", (i > 0 ? "," : ""), i }')
echo "{\"time\": [$times], \"x\": [$values]}" >fewer.json
"$FAILSLOW" series fewer.json 2>&1
echo "{\"time\": [\"a\"], \"x\": [$values]}" >one.json
"$FAILSLOW" series one.json --format csv 2>&1
echo "{\"time\": [$times], \"x\": [$values], \"time\": []}" >none.json
"$FAILSLOW" series none.json 2>&1
