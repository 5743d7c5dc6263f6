echo '{"k_sigm": 2, "jobs": -1}' > model_config.json
"$FAILSLOW" config check --format json model_config.json
