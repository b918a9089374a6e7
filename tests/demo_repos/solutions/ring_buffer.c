#include "ring_buffer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

size_t ring_count(const ring_buffer *rb)
{
    return rb->count;
}

ring_buffer *ring_create(size_t capacity)
{
    ring_buffer *rb;

    if (capacity == 0) {
        return NULL;
    }
    rb = malloc(sizeof *rb);
    if (rb == NULL) {
        return NULL;
    }
    rb->data = malloc(capacity * sizeof *rb->data);
    if (rb->data == NULL) {
        free(rb);
        return NULL;
    }
    rb->capacity = capacity;
    rb->head = 0;
    rb->count = 0;
    return rb;
}

void ring_destroy(ring_buffer *rb)
{
    if (rb != NULL) {
        free(rb->data);
        free(rb);
    }
}

bool ring_push(ring_buffer *rb, int value)
{
    if (rb->count == rb->capacity) {
        return false;
    }
    rb->data[(rb->head + rb->count) % rb->capacity] = value;
    rb->count++;
    return true;
}

bool ring_pop(ring_buffer *rb, int *out)
{
    if (rb->count == 0) {
        return false;
    }
    *out = rb->data[rb->head];
    rb->head = (rb->head + 1) % rb->capacity;
    rb->count--;
    return true;
}

bool ring_peek(const ring_buffer *rb, size_t index, int *out)
{
    if (index >= rb->count) {
        return false;
    }
    *out = rb->data[(rb->head + index) % rb->capacity];
    return true;
}

void ring_clear(ring_buffer *rb)
{
    memset(rb->data, 0, rb->capacity * sizeof *rb->data);
    rb->head = 0;
    rb->count = 0;
}

size_t ring_copy_out(const ring_buffer *rb, int *dest, size_t max)
{
    size_t n = max < rb->count ? max : rb->count;

    for (size_t i = 0; i < n; i++) {
        dest[i] = rb->data[(rb->head + i) % rb->capacity];
    }
    return n;
}

int ring_max(const ring_buffer *rb)
{
    int largest = INT_MIN;

    for (size_t i = 0; i < rb->count; i++) {
        int value = rb->data[(rb->head + i) % rb->capacity];
        if (value > largest) {
            largest = value;
        }
    }
    return largest;
}
