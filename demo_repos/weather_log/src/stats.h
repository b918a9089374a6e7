#ifndef STATS_H
#define STATS_H

#include "series.h"

/* Picks one number out of a reading. */
typedef int (*stat_field)(const reading *one);

int stat_temperature(const reading *one);
int stat_humidity(const reading *one);
int stat_pressure(const reading *one);

/* The smallest value of a field; 0 for an empty series. */
int stats_min(const series *all, stat_field field);

/* The largest value of a field; 0 for an empty series. */
int stats_max(const series *all, stat_field field);

/* The mean of a field, rounded towards zero; 0 for an empty series. */
int stats_mean(const series *all, stat_field field);

/* The middle value of a field, of an even number the lower one; 0 for an empty series. */
int stats_median(const series *all, stat_field field);

/* The largest change of a field from one reading to the next, without its sign. */
int stats_largest_step(const series *all, stat_field field);

#endif
