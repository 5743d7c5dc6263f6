/* Built-in metric configuration, for lack of a file; a test keeps it equal to the shipped file. */
#include "config/config_load.h"

/* sysTrace's shipped values: windows of p90, DBSCAN between ranks, n-sigma against the past. */
#define AGGREGATION(seconds, funcs)                                                                \
	"\"aggregation\":{\"during_s\":" seconds ",\"funcs\":[" funcs "]}"
#define PERCENTILE(q) "{\"func\":\"percentile\",\"func_params\":{\"q\":" q "}}"
#define SPACE(eps, window, scaling)                                                                \
	"\"space_detector\":{\"type\":\"SlidingWindowDBSCAN\",\"dist_metric\":\"euclidean\","      \
	"\"eps\":" eps ",\"cv_threshold\":0.03,\"min_samples\":2,\"window_size\":" window ","      \
	"\"scaling\":" scaling "}"
#define TIME(training, abs_bias, upper)                                                            \
	"\"time_detector\":{\"type\":\"SlidingWindowKSigmaDetector\",\"preprocess_eps\":0.1,"      \
	"\"preprocess_min_samples\":10,\"alarm_filter_window_size\":5,\"n_sigma_method\":{"        \
	"\"type\":\"SlidingWindowNSigma\",\"training_window_size\":" training ","                  \
	"\"min_update_window_size\":10,\"min_std_val\":0.0001,\"bias\":0.1,"                       \
	"\"abs_bias\":" abs_bias ",\"nsigma_coefficient\":4,\"detect_type\":\"upper_bound\","      \
	"\"min_expert_lower_bound\":null,\"max_expert_lower_bound\":null,"                         \
	"\"min_expert_upper_bound\":" upper ",\"max_expert_upper_bound\":null}}"
#define METRIC(name, type, aggregation, space, time)                                               \
	"\"" name "\":{\"type\":\"" type "\"," aggregation "," space "," time "}"
#define NO_SPACE "\"space_detector\":null"

/* clang-format off */
static const char builtin[] = "{"
	METRIC("HcclAllGather", "compute", AGGREGATION("3", PERCENTILE("90")),
	       SPACE("0.4", "22", "false"), TIME("20", "null", "null")) ","
	METRIC("HcclAllGather_launch", "compute", AGGREGATION("3", PERCENTILE("90")),
	       SPACE("3.0", "20", "true"), TIME("20", "5", "null")) ","
	METRIC("HcclReduceScatter", "compute", AGGREGATION("5", PERCENTILE("90")),
	       SPACE("0.4", "100", "false"), TIME("40", "5", "50")) ","
	METRIC("HcclBatchSendRecv", "network", AGGREGATION("5", PERCENTILE("90") "," PERCENTILE("10")),
	       NO_SPACE, TIME("20", "null", "null")) ","
	METRIC("HcclAllReduce", "network", AGGREGATION("5", PERCENTILE("90")),
	       NO_SPACE, TIME("20", "null", "50")) "}";
/* clang-format on */

const char *fsl_config_builtin_metrics(void)
{
	return builtin;
}
