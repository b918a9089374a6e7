#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The text without blanks at its start; points into it. */
const char *text_skip_blanks(const char *text);

/* Whether a text begins with another. */
bool text_starts(const char *text, const char *start);

/* Reads a decimal number at *text and moves *text behind it. Returns false if there is none. */
bool text_number(const char **text, int *out);

/* Moves *text behind one character if it is there. Returns whether it was. */
bool text_take(const char **text, char wanted);

/* The length of a line without its line end. */
size_t text_line_length(const char *line);

#endif
