#ifndef REPORT_H
#define REPORT_H

#include <stddef.h>

#include "series.h"

/*
 * Writes the date of a reading as year-month-day with two digits for month and day, such as 2026-01-04, with snprintf.
 * Returns what snprintf returns.
 */
int report_date(const reading *one, char *out, size_t size);

/* Counts the readings whose temperature is at or below limit (tenths of a degree). */
size_t report_cold_days(const series *all, int limit);

/*
 * Fills days[0] .. days[3] with the number of readings of each season: first sets days[0], days[1], days[2] and days[3] to 0,
 * then adds 1 to days[date_season(month)] for each reading.
 */
void report_seasons(const series *all, size_t days[4]);

/*
 * Makes a heap text of width + 1 characters with malloc: the first filled of them are '#', the others '.', and the last is
 * '\0'. filled is at most width. Returns NULL if memory cannot be had.
 */
char *report_bar(size_t filled, size_t width);

#endif
