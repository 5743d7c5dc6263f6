# The whole stack and the collection stand beside the slice, in both forms.
cat >host0--00003.timeline <<'END'
{"start_us":1750000000000010,"end_us":1750000000000020,"stage_id":4,"rank":3,"stage_type":"GC","stack_frames":["collect@gc.py:7","step@t.py:5","main@t.py:1"],"gc_debug":{"collected":12,"uncollectable":3}}
{"start_us":1750000000000030,"end_us":1750000000000040,"stage_id":4,"rank":3,"stage_type":"GC"}
END
"$FAILSLOW" convert host0--00003.timeline -o job.json -q
grep -o '"name":"GC".*' job.json
"$FAILSLOW" convert host0--00003.timeline -o job.pftrace -q
grep -aoE 'main@t.py:1;step@t.py:5;collect@gc.py:7|call_path|uncollectable' job.pftrace
