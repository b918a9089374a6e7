#ifndef READING_H
#define READING_H

#include <stdbool.h>

/* One reading of the station. */
typedef struct {
    int year;
    int month;       /* 1 .. 12 */
    int day;         /* 1 .. 31 */
    int temperature; /* tenths of a degree Celsius */
    int humidity;    /* percent */
    int pressure;    /* tenths of a hectopascal */
} reading;

/* Whether every field is one that a sensor can deliver on a day that exists. */
bool reading_valid(const reading *one);

/* Orders by date: negative if a is earlier than b, 0 on the same day, positive if later. */
int reading_compare(const reading *a, const reading *b);

/* Whether two readings are of the same day. */
bool reading_same_day(const reading *a, const reading *b);

#endif
