# History tells incidents of a state that this user may read and not write, in a folder that he may not write either; a run
# needs to write it. Root obeys modes of files only without his privileges. Who looks for leaks needs these.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
plain=()
if [ "$(id -u)" = 0 ]; then
	plain=(setpriv --bounding-set=-all)
	"${plain[@]}" true 2>/dev/null || exit 77
fi
"$FAILSLOW" simulate job tp=4 dp=2 steps=60 fault="compute ranks=2 factor=1.5" >/dev/null
"$FAILSLOW" detect job --now 1750000100 --output out --quiet
tell() {
	"${plain[@]}" "$FAILSLOW" history --output out "$@" | sed 's/.*job job: //'
}
chmod 444 out/failslow_state.db
tell
chmod 555 out
tell
tell --repeat
chmod 644 out/failslow_state.db
tell
chmod 755 out
chmod 444 out/failslow_state.db
"${plain[@]}" "$FAILSLOW" detect job --now 1750000200 --output out --quiet
chmod 644 out/failslow_state.db
# Of version 4, which lacks a column that history does not tell; of version 3, which had no incidents.
for version in 4 3; do
	python3 -c "
import sqlite3
state = sqlite3.connect('out/failslow_state.db')
state.executescript('PRAGMA user_version = $version; ' + ('DROP TABLE incidents' if $version == 3 else ''))"
	chmod 444 out/failslow_state.db
	tell --open
	chmod 644 out/failslow_state.db
done
