#ifndef RING_BUFFER_H
#define RING_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A first-in, first-out buffer of ints with a fixed capacity.
 *
 * The elements in use are, from the oldest to the newest, data[(head + i) % capacity] for i = 0 .. count - 1.
 */
typedef struct {
    int *data;       /* heap array with room for capacity ints */
    size_t capacity; /* number of slots, never 0 */
    size_t head;     /* index in data of the oldest element */
    size_t count;    /* number of elements in use, 0 .. capacity */
} ring_buffer;

/* Returns the number of elements in use: rb->count. */
size_t ring_count(const ring_buffer *rb);

/*
 * Makes an empty buffer: allocates a ring_buffer with malloc, and its data array of capacity ints with malloc;
 * sets capacity, head = 0, count = 0. Returns NULL if capacity is 0 or if memory cannot be had.
 */
ring_buffer *ring_create(size_t capacity);

/* Frees rb->data and then rb itself. Does nothing if rb is NULL. */
void ring_destroy(ring_buffer *rb);

/*
 * Appends value as the newest element: data[(head + count) % capacity] = value, then count grows by 1.
 * Returns true. If the buffer is full (count == capacity), changes nothing and returns false.
 */
bool ring_push(ring_buffer *rb, int value);

/*
 * Takes the oldest element out: *out = data[head], then head = (head + 1) % capacity and count shrinks by 1.
 * Returns true. If the buffer is empty (count == 0), changes nothing, leaves *out alone and returns false.
 */
bool ring_pop(ring_buffer *rb, int *out);

/*
 * Reads without removing: *out = data[(head + index) % capacity], so index 0 is the oldest element.
 * Returns true. If index >= count, leaves *out alone and returns false.
 */
bool ring_peek(const ring_buffer *rb, size_t index, int *out);

/* Empties the buffer: fills all capacity ints of data with zero using memset, then sets head = 0 and count = 0. */
void ring_clear(ring_buffer *rb);

/*
 * Copies the n oldest elements to dest, oldest first, where n is the smaller of max and count.
 * Element i is data[(head + i) % capacity]. The buffer does not change. Returns n.
 */
size_t ring_copy_out(const ring_buffer *rb, int *dest, size_t max);

/* Returns the largest element in use, or INT_MIN if the buffer is empty. */
int ring_max(const ring_buffer *rb);

#endif
