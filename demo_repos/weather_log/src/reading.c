#include "reading.h"

#include "dates.h"

bool reading_valid(const reading *one)
{
    if (!date_exists(one->year, one->month, one->day)) {
        return false;
    }
    if (one->temperature < -900 || one->temperature > 600) {
        return false;
    }
    return one->humidity >= 0 && one->humidity <= 100 && one->pressure >= 8000 && one->pressure <= 11000;
}

int reading_compare(const reading *a, const reading *b)
{
    if (a->year != b->year) {
        return a->year - b->year;
    }
    if (a->month != b->month) {
        return a->month - b->month;
    }
    return a->day - b->day;
}

bool reading_same_day(const reading *a, const reading *b)
{
    return reading_compare(a, b) == 0;
}
