mkdir model_config.json
"$FAILSLOW" config check model_config.json
