/* Any bytes as a kept verdict: refused, or one that is kept again in the same bytes from then on.
 */
#include <string.h>

#include "base/log.h"
#include "fuzz/fuzz.h"
#include "model/verdict_pack.h"

static void keep(const struct fsl_localisation *verdict, struct fsl_pack *pack)
{
	FSL_REQUIRE(fsl_localisation_pack(verdict, pack, NULL) == FSL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fsl_localisation first;
	struct fsl_localisation second;
	struct fsl_pack once = {0};
	struct fsl_pack twice = {0};
	fsl_localisation_init(&first);
	fsl_localisation_init(&second);
	if (fsl_localisation_unpack(&first, data, n_bytes, NULL) == FSL_OK) {
		keep(&first, &once);
		FSL_REQUIRE(fsl_localisation_unpack(&second, once.bytes, once.n_bytes, NULL) ==
			    FSL_OK);
		keep(&second, &twice);
		FSL_REQUIRE(once.n_bytes == twice.n_bytes &&
			    memcmp(once.bytes, twice.bytes, once.n_bytes) == 0);
	}
	fsl_pack_fini(&once);
	fsl_pack_fini(&twice);
	fsl_localisation_fini(&first);
	fsl_localisation_fini(&second);
	return 0;
}
