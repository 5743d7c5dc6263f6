awk 'BEGIN { for (i = 0; i < 40; i++) printf "%s%d", (i > 0 ? "," : ""), (i < 20 ? 10 : 20) + i % 3 }' > numbers
{ printf '['; cat numbers; printf ']'; } > array.json
{ printf '{"name": "x", "time": {"index": [0], "raw": ['; cat numbers; printf ']}, "series": [{"label": "V1", "type": "int", "raw": ['; cat numbers; printf ']}]}'; } > labelled.json
{ printf '{"notes": ["a", {"b": [1]}], "a": ['; cat numbers; printf '], "b": [1, null]}'; } > named.json
"$FAILSLOW" series array.json
"$FAILSLOW" series labelled.json
"$FAILSLOW" series named.json --column a
