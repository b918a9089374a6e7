#include <stdio.h>
#include <stdlib.h>

#include "alarms.h"
#include "csv.h"
#include "report.h"
#include "stats.h"
#include "units.h"

static const char *const seasons[] = {"winter", "spring", "summer", "autumn"};

int main(void)
{
    series all;
    size_t days[4];
    char date[32] = "";
    alarm_limits limits = alarm_defaults();
    series_init(&all);
    size_t wrong = csv_read(stdin, &all);
    for (size_t i = 0; i < all.count; i++) {
        const reading *one = series_at(&all, i);
        report_date(one, date, sizeof date);
        printf("%s %4d C%s\n", date, units_whole(one->temperature), alarm_frost(&limits, one) ? "  frost" : "");
    }
    printf("%d to %d, mean %d, median %d\n", stats_min(&all, stat_temperature), stats_max(&all, stat_temperature),
           stats_mean(&all, stat_temperature), stats_median(&all, stat_temperature));
    report_seasons(&all, days);
    for (int season = 0; season < 4; season++) {
        char *bar = report_bar(days[season] < 40 ? days[season] : 40, 40);
        printf("%-7s %s %zu\n", seasons[season], bar != NULL ? bar : "", days[season]);
        free(bar);
    }
    printf("%zu cold, %zu lines could not be read\n", report_cold_days(&all, limits.frost), wrong);
    series_free(&all);
    return EXIT_SUCCESS;
}
