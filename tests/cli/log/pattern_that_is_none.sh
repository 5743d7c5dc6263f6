for pattern in 'step (?<step>[0-9]+' 'step (?<step>[0-9]+)'; do
	echo "{\"root_path\": \".\", \"log_patterns\": [\"$pattern\"]}" >model_config.json
	! "$FAILSLOW" detect --config model_config.json
done
exit 2
