LC_ALL=zh_CN.UTF-8 "$FAILSLOW" config check "$CONFIGS/model_config.json"
