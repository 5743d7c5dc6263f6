"$FAILSLOW" config keys model_config.json
