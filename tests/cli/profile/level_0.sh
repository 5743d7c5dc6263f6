# No communication, no statistics, kernels without shapes, no metadata: the slow rank is found by its computing.
mkdir set
for folder in "$DATASETS"/profile/slow_rank/*_ascend_pt; do
	output=set/$(basename "$folder")/ASCEND_PROFILER_OUTPUT
	mkdir -p "$output"
	cp "$folder/ASCEND_PROFILER_OUTPUT/step_trace_time.csv" "$output"
	sed 's/Level1/Level0/' "$folder"/profiler_info_*.json > "$output/../$(basename "$folder"/profiler_info_*.json)"
	python3 - "$folder/ASCEND_PROFILER_OUTPUT/kernel_details.csv" > "$output/kernel_details.csv" << 'END'
import csv, sys
rows = csv.DictReader(open(sys.argv[1]))
columns = ["Step Id", "Name", "Type", "Accelerator Core", "Start Time(us)", "Duration(us)", "Wait Time(us)", "Block Dim"]
print(",".join(columns))
for row in rows:
    row["Accelerator Core"] = "N/A"
    print(",".join(row[column] for column in columns))
END
done
"$FAILSLOW" profile set --long
