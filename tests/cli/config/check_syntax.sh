printf '{\n  "root_path": "mspti",\n  "jobs": 2,\n}\n' > model_config.json
"$FAILSLOW" config check model_config.json
