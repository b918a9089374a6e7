#ifndef CSV_H
#define CSV_H

#include <stdbool.h>
#include <stdio.h>

#include "series.h"

/* Reads one line of the log, such as 2026-01-14,-35,81,10132. Returns false if it is no valid reading. */
bool csv_parse(const char *line, reading *out);

/* Whether a line is to be passed over: empty, or a comment that begins with #. */
bool csv_ignored(const char *line);

/* Adds every valid reading of a stream to a series. Returns how many lines were not valid. */
size_t csv_read(FILE *in, series *all);

#endif
