#include "ring_buffer.h"

size_t ring_count(const ring_buffer *rb)
{
    return rb->count;
}

ring_buffer *ring_create(size_t capacity)
{
    /* stub */
    return NULL;
}

void ring_destroy(ring_buffer *rb)
{
    /* stub */
}

bool ring_push(ring_buffer *rb, int value)
{
    /* stub */
    return false;
}

bool ring_pop(ring_buffer *rb, int *out)
{
    /* stub */
    return false;
}

bool ring_peek(const ring_buffer *rb, size_t index, int *out)
{
    /* stub */
    return false;
}

void ring_clear(ring_buffer *rb)
{
    /* stub */
}

size_t ring_copy_out(const ring_buffer *rb, int *dest, size_t max)
{
    /* stub */
    return 0;
}

int ring_max(const ring_buffer *rb)
{
    /* stub */
    return 0;
}
