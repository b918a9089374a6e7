#ifndef ALARMS_H
#define ALARMS_H

#include <stdbool.h>

#include "series.h"

/* What a person wants to be warned of. Temperatures in tenths of a degree. */
typedef struct {
    int frost; /* warned at or below it */
    int heat;  /* warned at or above it */
    int storm; /* warned when the pressure falls by so much from one reading to the next */
} alarm_limits;

/* The limits where none were set: 0 degrees, 30 degrees, 8 hectopascals. */
alarm_limits alarm_defaults(void);

/* Whether a reading is at or below the frost limit. */
bool alarm_frost(const alarm_limits *limits, const reading *one);

/* Whether a reading is at or above the heat limit. */
bool alarm_heat(const alarm_limits *limits, const reading *one);

/* Whether the pressure fell by the storm limit or more between two readings. */
bool alarm_storm(const alarm_limits *limits, const reading *before, const reading *now);

#endif
