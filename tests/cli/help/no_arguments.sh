# Nothing to do and no installed configuration: short usage, exit 2. With one installed, it would run.
for installed in $("$FAILSLOW" version | sed -n 's/^  configs *//p') /etc/systrace/config; do
	if [ -e "$installed/model_config.json" ]; then
		echo "usage: failslow (not tried: $installed has a configuration)" >&2
		exit 2
	fi
done
"$FAILSLOW"
