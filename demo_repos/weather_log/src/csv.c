#include "csv.h"

#include "text.h"

bool csv_parse(const char *line, reading *out)
{
    reading one = {0, 0, 0, 0, 0, 0};
    const char *at = text_skip_blanks(line);
    if (!text_number(&at, &one.year) || !text_take(&at, '-') || !text_number(&at, &one.month)
        || !text_take(&at, '-') || !text_number(&at, &one.day) || !text_take(&at, ',')
        || !text_number(&at, &one.temperature) || !text_take(&at, ',')
        || !text_number(&at, &one.humidity) || !text_take(&at, ',') || !text_number(&at, &one.pressure)) {
        return false;
    }
    if (!reading_valid(&one)) {
        return false;
    }
    *out = one;
    return true;
}

bool csv_ignored(const char *line)
{
    const char *start = text_skip_blanks(line);
    return text_line_length(start) == 0 || text_starts(start, "#");
}

size_t csv_read(FILE *in, series *all)
{
    char line[256];
    size_t wrong = 0;
    while (fgets(line, sizeof line, in) != NULL) {
        reading one;
        if (csv_ignored(line)) {
            continue;
        }
        if (!csv_parse(line, &one) || !series_add(all, &one)) {
            wrong++;
        }
    }
    return wrong;
}
