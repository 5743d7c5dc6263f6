# A look at a folder writes nothing and obeys nothing that lies there, be it a configuration with paths of its own.
mkdir job
"$FAILSLOW" simulate --output job steps=60 tp=1 dp=4 pp=1 fault=compute:rank=2,factor=1.6 > told
rm told
cat > job/model_config.json <<EOF
{"root_path": "/etc", "fail_slow_perception_path": "$PWD/stolen", "slow_node_detection_path": "$PWD/stolen",
 "state_path": "$PWD/stolen.db", "plugin_paths": ["$PWD/evil.so"]}
EOF
touch mark
"$FAILSLOW" job | head -n 1
"$FAILSLOW" job --output results | head -n 1
find . -newer mark -not -name results -not -name . | sort | sed 's/_[0-9]*\.json/_TIME.json/'
