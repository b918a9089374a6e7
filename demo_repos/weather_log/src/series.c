#include "series.h"

#include <stdlib.h>

void series_init(series *all)
{
    all->items = NULL;
    all->count = 0;
    all->capacity = 0;
}

void series_free(series *all)
{
    free(all->items);
    series_init(all);
}

static bool grow(series *all)
{
    size_t capacity = all->capacity == 0 ? 16 : all->capacity * 2;
    reading *items = realloc(all->items, capacity * sizeof *items);
    if (items == NULL) {
        return false;
    }
    all->items = items;
    all->capacity = capacity;
    return true;
}

bool series_add(series *all, const reading *one)
{
    if (all->count == all->capacity && !grow(all)) {
        return false;
    }
    size_t place = all->count;
    while (place > 0 && reading_compare(&all->items[place - 1], one) > 0) {
        all->items[place] = all->items[place - 1];
        place--;
    }
    all->items[place] = *one;
    all->count++;
    return true;
}

const reading *series_at(const series *all, size_t index)
{
    return index < all->count ? &all->items[index] : NULL;
}

size_t series_find(const series *all, int year, int month, int day)
{
    reading wanted = {year, month, day, 0, 0, 0};
    size_t place = 0;
    while (place < all->count && reading_compare(&all->items[place], &wanted) < 0) {
        place++;
    }
    return place;
}

size_t series_between(const series *all, const reading *first, const reading *last)
{
    size_t found = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (reading_compare(&all->items[i], first) >= 0 && reading_compare(&all->items[i], last) < 0) {
            found++;
        }
    }
    return found;
}
