# No folder has the library of the frame: its address stays.
printf '\x12\x1b\x08\x01\x10\x01\x20\x80\x80\x80\x80\x0c\x2a\x0f\x08\x20\x12\x0blibnone0.so' >hbm_trace_trace_rank0_77.pb
mkdir libraries
"$FAILSLOW" convert hbm_trace_trace_rank0_77.pb --libraries libraries -o job.folded
cat job.folded
