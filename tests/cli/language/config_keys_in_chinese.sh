LC_ALL=zh_CN.UTF-8 "$FAILSLOW" config keys >keys
sed -n '1,12p' keys
echo '{"root_path": 7, "look_back": -1, "jobs": 1.5, "unknown": 1, "causes": []}' >model_config.json
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" config check model_config.json || echo "exit $?"
