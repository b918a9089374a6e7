#ifndef UNITS_H
#define UNITS_H

/* Tenths of a degree Celsius as tenths of a degree Fahrenheit. */
int units_fahrenheit(int celsius);

/* Tenths of a hectopascal as hundredths of an inch of mercury. */
int units_inches(int hectopascal);

/* A number of tenths, rounded to the next whole number; halves away from zero. */
int units_whole(int tenths);

#endif
