cp "$CONFIGS"/*_config.json .
"$FAILSLOW" config check model_config.json
