# A kernel trace beside root_path, and sysTrace's records below it, name the process that had the CPU of a rank: on the
# screen as next, in the case and on its page, and in alarms.
cp -r "$DATASETS/faults/host_bound/." .
python3 "$CASES/detect/host_trace.py" ftrace
sed -i '2i "command_hook": ["/bin/sh", "-c", "cat >> @/edges"],' model_config.json
sed -i "s|@|$PWD|" model_config.json
"$FAILSLOW" detect --config model_config.json --now 1750000066 --format json --report page.html | python3 -c '
import json, sys
case = json.load(sys.stdin)
process, host = case["culprits"][0]["process"], case["pictures"]["host"]
print(process["name"], process["pids"], process["cpu"], process["advice"])
print(host["verdict"], host["picture"]["rank"], [(lane["cpu"], lane["waitMs"]) for lane in host["picture"]["lanes"]])
page = open("page.html").read()
print([page.count("<svg class=\"c " + name) for name in ("cpus", "held", "steps", "states", "latency")])'
"$FAILSLOW" detect --config model_config.json --now 1750000666 --quiet
python3 -c 'import json; print(json.load(open("edges"))["headline"])'
"$FAILSLOW" detect mspti | grep -A 1 '^  next'
rm -r ftrace out
mkdir mspti/osprobe
python3 "$CASES/hostbound/records.py" mspti/osprobe 3
"$FAILSLOW" detect mspti | grep -A 1 '^  next'
