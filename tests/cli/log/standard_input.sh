# Coloured lines of two ranks come through a pipe, and a packed progress bar.
"$FAILSLOW" detect - --format line <"$DATASETS/logs/torchtitan.log"
gzip -c "$DATASETS/logs/hf_trainer.log" | "$FAILSLOW" detect - --format line
