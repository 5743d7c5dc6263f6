printf '{"a": [1], "b": [2]}' > wide.json
"$FAILSLOW" series wide.json
