#ifndef LOG_H
#define LOG_H

typedef enum { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE } log_level;

/* Sets how much is printed; LOG_NORMAL at start. */
void log_set_level(log_level level);

/* Prints one line to stderr, with a tag in front, if level is at most the level set. */
void log_line(log_level level, const char *text);

#endif
