# The series of a log are its step times and its times of loading.
"$FAILSLOW" series "$DATASETS/logs/megatron.log"
"$FAILSLOW" series "$DATASETS/logs/lerobot.log" --column data_ms
"$FAILSLOW" series "$DATASETS/logs/llama_factory.jsonl" --format csv
! "$FAILSLOW" series "$DATASETS/logs/lerobot.log" --column loss
