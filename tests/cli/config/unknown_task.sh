"$FAILSLOW" config chek model_config.json
