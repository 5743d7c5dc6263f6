/*
 * Finds a place for a database that only root and the user can change. SQLite obeys a journal that
 * it finds beside a database. Whoever puts a journal there makes the program change the database
 * and delete any file, with the rights of the user who runs it.
 */
#ifndef FSL_STATE_STATE_PLACE_H
#define FSL_STATE_STATE_PLACE_H

#include <failslow/error.h>

#include "base/log.h"

/*
 * Says where the database wanted at @wanted lies; its folder must be there. *out is absolute,
 * without links, and to be freed with fsl_free.
 *
 * It is @wanted if file, journals and folder belong to root or the effective user, nobody else may
 * write them, nobody else may replace a folder above, and neither file nor journals are links,
 * symbolic or hard. Else it is <16 digits of the hash of @wanted>-<name> in a folder that is made
 * for the user alone: failslow in $XDG_STATE_HOME; without that variable, or if that is not safe
 * either, /var/lib/failslow for root and ~/.local/state/failslow for others. A message at @level
 * tells which file is used and why. FSL_ERR_IO if there is no folder of @wanted, or no safe place.
 */
enum fsl_status fsl_state_place(char **out, const char *wanted, enum fsl_log_level level,
				struct fsl_error *err);

#endif
