#include "log.h"

#include <stdio.h>

static log_level current = LOG_NORMAL;

void log_set_level(log_level level)
{
    current = level;
}

void log_line(log_level level, const char *text)
{
    if (level <= current) {
        fprintf(stderr, "[%s] %s\n", level == LOG_VERBOSE ? "verbose" : "info", text);
    }
}
