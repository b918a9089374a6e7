#include "report.h"

int report_date(const reading *one, char *out, size_t size)
{
    /* stub */
    return 0;
}

size_t report_cold_days(const series *all, int limit)
{
    /* stub */
    return 0;
}

void report_seasons(const series *all, size_t days[4])
{
    /* stub */
}

char *report_bar(size_t filled, size_t width)
{
    /* stub */
    return NULL;
}
