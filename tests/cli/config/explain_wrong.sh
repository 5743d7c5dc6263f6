echo '{"k_sigma": "big", "jobs": -1}' > model_config.json
"$FAILSLOW" config explain model_config.json
