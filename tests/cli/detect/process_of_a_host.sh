# A kernel trace beside root_path, and sysTrace's records below it, name the process that had the CPU of a rank: on the
# screen as next, in the case, and in alarms.
cp -r "$DATASETS/faults/host_bound/." .
python3 "$CASES/detect/host_trace.py" ftrace
sed -i '2i "command_hook": ["/bin/sh", "-c", "cat >> @/edges"],' model_config.json
sed -i "s|@|$PWD|" model_config.json
"$FAILSLOW" detect --config model_config.json --now 1750000066 --format json | python3 -c '
import json, sys
process = json.load(sys.stdin)["culprits"][0]["process"]
print(process["name"], process["pids"], process["cpu"], process["advice"])'
"$FAILSLOW" detect --config model_config.json --now 1750000666 --quiet
python3 -c 'import json; print(json.load(open("edges"))["headline"])'
"$FAILSLOW" detect mspti | grep -A 1 '^  next'
rm -r ftrace out
mkdir mspti/osprobe
python3 "$CASES/hostbound/records.py" mspti/osprobe 3
"$FAILSLOW" detect mspti | grep -A 1 '^  next'
