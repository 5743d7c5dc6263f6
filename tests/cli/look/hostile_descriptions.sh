# A model_config.json in the folder may be hostile: nothing runs, nothing is written, no path changes, one warning at most.
"$FAILSLOW" simulate job steps=40 tp=1 dp=4 pp=1 timelines=all fault="compute ranks=2 factor=1.6 onset=20" > told
rm told job/model_config.json
mkdir elsewhere
cp -r job/timeline elsewhere
ln -s "$PWD/elsewhere/timeline" job/link
ln -s "$PWD/elsewhere" job/links
echo '{"k_sigma": 5}' > elsewhere/model_config.json
"$FAILSLOW" job --format json > wanted
"$FAILSLOW" job --output results > text
rm -r results text
touch mark

look() { # NAME: looks at the folder as it is
	rm -f got warnings
	"$FAILSLOW" job --format json > got 2> warnings || echo "$1: exit code $?"
	echo "$1: $(wc -l < warnings) warnings, used: $(python3 - <<-'PYTHON'
		import json
		got, wanted = json.load(open("got")), json.load(open("wanted"))
		for case in wanted, got:
		    used = case["coverage"].pop("describedBy", None)
		    for by_the_clock in "perception", "localisation":
		        case.pop(by_the_clock)
		print(used, "and the verdict is", "the same" if got == wanted else "another")
	PYTHON
	)"
	cat warnings
	find . -newer mark -type f -not -name got -not -name warnings -not -name model_config.json
}

write() { # NAME TEXT
	rm -rf job/model_config.json
	printf '%s' "$2" > job/model_config.json
	look "$1"
}

look none
write empty ''
write broken '{"k_sigma": 3,'
write list '[1, 2]'
write "wrong value" '{"k_sigma": "many", "slow_ratio_min": 3}'
write "nothing about the job" '{"note": "of the user"}'
write outputs "{\"root_path\": \"/etc\", \"fail_slow_perception_path\": \"$PWD/stolen\", \"slow_node_detection_path\":
 \"$PWD/stolen\", \"state_path\": \"$PWD/stolen.db\", \"save_path\": \"$PWD/stolen\", \"look_back\": 0, \"jobs\": 4096,
 \"with_fail_slow\": true, \"slow_node_detection_range_times\": [1, 2], \"verdict_schema\": \"systrace\"}"
write plug-ins "{\"detectors\": {\"Evil\": {\"plugin\": \"$PWD/evil.so\"}, \"BoxPlot\": {\"plugin\": \"evil.so\"}},
 \"metric_config\": \"evil.json\", \"plugin_paths\": [\"$PWD/evil.so\"], \"reporters\": {\"webhook\": \"http://evil\"}}"
write "absolute log" "{\"training_log\": \"$PWD/elsewhere/timeline\"}"
write "log above" '{"training_log": "../elsewhere/timeline"}'
write "log behind a link" '{"training_log": "link"}'
write "log below a link" '{"training_log": "links/timeline"}'
write "absent log" '{"training_log": "timeline/absent"}'
write "log that is no text" '{"training_log": {"path": "/etc"}}'
write "rank table above" '{"rank_table_json": "../elsewhere/rank_table.json", "training_log": "/etc/passwd"}'
write "device as rank table" '{"rank_table_json": "/dev/zero"}'
write "groups that overlap" '{"hccl_domain": {"dp": [[0, 1], [1, 2]]}}'
write "groups of no ranks" '{"hccl_domain": {"dp": [[-1, 5000000]]}}'
write deep "$(printf '[%.0s' $(seq 100000))"
rm job/model_config.json
truncate -s 3G job/model_config.json
look huge
rm job/model_config.json
ln -s "$PWD/elsewhere/model_config.json" job/model_config.json
look "link out of the folder"
ln -sfn model_config.json job/model_config.json
look "link to itself"
rm job/model_config.json
mkfifo job/model_config.json
look pipe
rm job/model_config.json
mkdir job/model_config.json
look folder
