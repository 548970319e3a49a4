/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ptebatch: how a page-table walker may treat many entries as one.
 *
 *	#include "<backend>.h"		types, constants and ops by the contract in ops.h
 *	#include "ptebatch.h"		the primitives
 *	#include "walk/mincore.h"	the walkers that are wanted
 *
 * One backend per translation unit.
 */
#ifndef PTEBATCH_H
#define PTEBATCH_H

#include "contig.h"
#include "grab.h"
#include "scan.h"
#include "vpfn.h"

#endif
