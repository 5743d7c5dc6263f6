# Unknown keys, keys without effect and a file of another program are errors of --strict alone.
echo '{"root_path": "job", "k_sigm": 3, "debug_data": true}' > mixed.json
echo '{"_comment": "a job", "root_path": "job"}' > sound.json
echo '{"listen": 80, "workers": 4}' > foreign.json
echo '{}' > nothing.json
for file in mixed sound foreign nothing; do
	"$FAILSLOW" config check "$file.json" && code=0 || code=$?
	echo "plain $code"
	"$FAILSLOW" config check --strict "$file.json" && code=0 || code=$?
	echo "strict $code"
done
"$FAILSLOW" config explain --strict sound.json
