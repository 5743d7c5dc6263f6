# A look at a folder writes nothing and obeys nothing that lies there, be it a configuration with paths of its own.
mkdir job
"$FAILSLOW" simulate job steps=80 tp=1 dp=8 pp=1 fault="compute ranks=2 factor=1.6 onset=30" > told
rm told
cat > job/model_config.json <<EOF
{"root_path": "/etc", "fail_slow_perception_path": "$PWD/stolen", "slow_node_detection_path": "$PWD/stolen",
 "state_path": "$PWD/stolen.db", "plugin_paths": ["$PWD/evil.so"]}
EOF
touch mark
"$FAILSLOW" job | sed -n 1,1p
"$FAILSLOW" job --output results | sed -n 1,1p
find . -newer mark -not -name results -not -name . | sort | sed 's/_[0-9]*\.json/_TIME.json/'
