#include "stats.h"

#include <stdlib.h>

int stat_temperature(const reading *one)
{
    return one->temperature;
}

int stat_humidity(const reading *one)
{
    return one->humidity;
}

int stat_pressure(const reading *one)
{
    return one->pressure;
}

int stats_min(const series *all, stat_field field)
{
    if (all->count == 0) {
        return 0;
    }
    int least = field(&all->items[0]);
    for (size_t i = 1; i < all->count; i++) {
        if (field(&all->items[i]) < least) {
            least = field(&all->items[i]);
        }
    }
    return least;
}

int stats_max(const series *all, stat_field field)
{
    if (all->count == 0) {
        return 0;
    }
    int most = field(&all->items[0]);
    for (size_t i = 1; i < all->count; i++) {
        if (field(&all->items[i]) > most) {
            most = field(&all->items[i]);
        }
    }
    return most;
}

int stats_mean(const series *all, stat_field field)
{
    long sum = 0;
    for (size_t i = 0; i < all->count; i++) {
        sum += field(&all->items[i]);
    }
    return all->count == 0 ? 0 : (int)(sum / (long)all->count);
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a;
    int y = *(const int *)b;
    return (x > y) - (x < y);
}

int stats_median(const series *all, stat_field field)
{
    if (all->count == 0) {
        return 0;
    }
    int *values = malloc(all->count * sizeof *values);
    if (values == NULL) {
        return 0;
    }
    for (size_t i = 0; i < all->count; i++) {
        values[i] = field(&all->items[i]);
    }
    qsort(values, all->count, sizeof *values, ascending);
    int middle = values[(all->count - 1) / 2];
    free(values);
    return middle;
}

int stats_largest_step(const series *all, stat_field field)
{
    int largest = 0;
    for (size_t i = 1; i < all->count; i++) {
        int step = abs(field(&all->items[i]) - field(&all->items[i - 1]));
        if (step > largest) {
            largest = step;
        }
    }
    return largest;
}
