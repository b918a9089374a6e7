#ifndef SERIES_H
#define SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "reading.h"

/* Readings in the order of their dates. */
typedef struct {
    reading *items;
    size_t count;
    size_t capacity;
} series;

/* Makes an empty series. */
void series_init(series *all);

/* Frees the items; the series is empty afterwards. */
void series_free(series *all);

/* Puts a copy of a reading in its place by date. Returns false if memory cannot be had. */
bool series_add(series *all, const reading *one);

/* The reading at a place, from 0; NULL past the end. */
const reading *series_at(const series *all, size_t index);

/* The place of the first reading that is not earlier than a date; count if all are earlier. */
size_t series_find(const series *all, int year, int month, int day);

/* How many readings lie between two dates, both of them included. */
size_t series_between(const series *all, const reading *first, const reading *last);

#endif
