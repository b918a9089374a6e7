/* Reads numbers from standard input and prints the last five. */
#include <stdio.h>

#include "../log.h"
#include "../ring_buffer.h"

int main(void)
{
    ring_buffer *last = ring_create(5);
    int value;

    if (last == NULL) {
        log_line(LOG_NORMAL, "out of memory");
        return 1;
    }
    while (scanf("%d", &value) == 1) {
        int dropped;
        if (!ring_push(last, value)) {
            ring_pop(last, &dropped);
            ring_push(last, value);
        }
    }
    while (ring_pop(last, &value)) {
        printf("%d\n", value);
    }
    ring_destroy(last);
    return 0;
}
