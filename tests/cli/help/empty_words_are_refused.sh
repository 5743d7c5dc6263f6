# What "$UNSET" leaves is no path: below "" lies the root of the file system.
refused() {
	code=0
	"$FAILSLOW" "$@" >>stdout 2>stderr || code=$?
	[ "$code" -eq 2 ] || echo "exit code $code: $*"
	tail -n 1 stderr
}
"$FAILSLOW" simulate job tp=2 dp=1 steps=2 >/dev/null
refused ""
refused detect ""
refused detect job -o ""
refused detect job --output=
refused job --config ""
refused profile ""
refused profile job -o ""
refused profile job --baseline ""
refused simulate "" tp=2 dp=1 steps=2
refused series ""
refused eval --output ""
refused eval --config ""
refused bench --dir ""
refused bench --output ""
refused bench --case detect ""
refused config check ""
refused config explain ""
cat stdout
ls
