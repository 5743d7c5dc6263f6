/* Early return: FSL_TRY. */
#ifndef FSL_BASE_TRY_H
#define FSL_BASE_TRY_H

#include <failslow/error.h>

#endif
