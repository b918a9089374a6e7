#include "text.h"

#include <stdlib.h>
#include <string.h>

const char *text_skip_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t') {
        text++;
    }
    return text;
}

bool text_starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

bool text_number(const char **text, int *out)
{
    char *end = NULL;
    long value = strtol(*text, &end, 10);
    if (end == *text) {
        return false;
    }
    *out = (int)value;
    *text = end;
    return true;
}

bool text_take(const char **text, char wanted)
{
    if (**text != wanted) {
        return false;
    }
    (*text)++;
    return true;
}

size_t text_line_length(const char *line)
{
    return strcspn(line, "\r\n");
}
