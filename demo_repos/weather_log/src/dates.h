#ifndef DATES_H
#define DATES_H

#include <stdbool.h>

/* Whether a year has a 29th of February. */
bool date_leap(int year);

/* The days of a month, 28 to 31; 0 for a month that does not exist. */
int date_days(int year, int month);

/* Whether a date exists. */
bool date_exists(int year, int month, int day);

/* The day of the year, from 1. */
int date_day_of_year(int year, int month, int day);

/* The meteorological season of a month: 0 winter, 1 spring, 2 summer, 3 autumn. */
int date_season(int month);

#endif
