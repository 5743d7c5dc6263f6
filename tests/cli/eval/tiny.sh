# The same bytes on any number of threads, with files.
"$FAILSLOW" eval quick --seeds 7-7 --filter "fault=clean|compute-one|hang,ranks=8,magnitude=0|20" --jobs 1 --output one > one.txt
"$FAILSLOW" eval quick --seeds 7-7 --filter "fault=clean|compute-one|hang,ranks=8,magnitude=0|20" --jobs 2 --output two > two.txt
cmp one.txt two.txt
diff -r one two
ls one
head -n 1 one/jobs.csv | tr , '\n' | head -n 3
cut -d, -f 2,3,15,16 one/jobs.csv
