/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef PTEBATCH_VERSION
#define PTEBATCH_VERSION "0.1"
#endif
