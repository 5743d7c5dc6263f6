/* Tells which rows of a rank's operators reach the disk. */
#ifndef FSL_SIM_ROWS_H
#define FSL_SIM_ROWS_H

#include "sim/sim_parts.h"

enum fsl_sim_row {
	FSL_SIM_HOST_BEGIN, /* carries the name */
	FSL_SIM_HOST_END,
	FSL_SIM_DEV_BEGIN,
	FSL_SIM_DEV_END,
	FSL_SIM_ROWS_N
};

/* Random streams of the losses alone, one per rank: a lost row shifts no other number. */
struct fsl_sim_losses {
	const struct fsl_sim_params *params;
	gsl_rng **streams; /* [n_ranks] */
};
enum fsl_status fsl_sim_losses_init(struct fsl_sim_losses *losses,
				    const struct fsl_sim_params *params, struct fsl_error *err);
void fsl_sim_losses_fini(struct fsl_sim_losses *losses);
/* Draws @is_kept for the rows of one operator. */
void fsl_sim_losses_draw(struct fsl_sim_losses *losses, int32_t rank, const struct fsl_sim_op *op,
			 bool is_kept[FSL_SIM_ROWS_N]);

/* Text of a stage in a timeline. */
const char *fsl_sim_stage_text(enum fsl_stage_kind kind);
/* "10.1.0.3": address of the host of the model's rank @rank, whatever its written number. */
void fsl_sim_server_ip(const struct fsl_sim_params *params, int32_t rank, char *text, size_t size);
/* True if this rank writes a timeline. */
bool fsl_sim_has_timeline(const struct fsl_sim_params *params, int32_t rank);

#endif
