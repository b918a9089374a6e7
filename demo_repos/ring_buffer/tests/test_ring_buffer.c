/*
 * Tests of ring_buffer.h. Each test runs in a process of its own, so that one that crashes or hangs
 * is counted as failed and the others still run.
 */
#define _POSIX_C_SOURCE 200809L

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ring_buffer.h"

#define CHECK(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);  \
            return 1;                                                         \
        }                                                                     \
    } while (0)

static int test_count(void)
{
    int slots[4] = {0};
    ring_buffer rb = {slots, 4, 1, 3};
    CHECK(ring_count(&rb) == 3);
    return 0;
}

static int test_create_makes_an_empty_buffer(void)
{
    ring_buffer *rb = ring_create(7);
    CHECK(rb != NULL);
    CHECK(rb->data != NULL);
    CHECK(rb->capacity == 7);
    CHECK(rb->head == 0);
    CHECK(rb->count == 0);
    for (size_t i = 0; i < 7; i++) {
        rb->data[i] = (int)i;
    }
    ring_destroy(rb);
    return 0;
}

static int test_create_refuses_capacity_zero(void)
{
    CHECK(ring_create(0) == NULL);
    return 0;
}

static int test_destroy_accepts_null(void)
{
    ring_destroy(NULL);
    return 0;
}

/* With 512 MiB of address space, 400 buffers of 8 MiB can only be made if each gives its memory back. */
static int test_destroy_gives_memory_back(void)
{
    struct rlimit limit = {512u << 20, 512u << 20};
    setrlimit(RLIMIT_AS, &limit);
    for (int i = 0; i < 400; i++) {
        ring_buffer *rb = ring_create((8u << 20) / sizeof(int));
        CHECK(rb != NULL);
        ring_destroy(rb);
    }
    return 0;
}

static int test_push_stores_in_order(void)
{
    int slots[3] = {0};
    ring_buffer rb = {slots, 3, 0, 0};
    CHECK(ring_push(&rb, 10));
    CHECK(ring_push(&rb, 20));
    CHECK(rb.count == 2);
    CHECK(rb.head == 0);
    CHECK(slots[0] == 10);
    CHECK(slots[1] == 20);
    return 0;
}

static int test_push_wraps_around(void)
{
    int slots[3] = {1, 2, 3};
    ring_buffer rb = {slots, 3, 2, 2};
    CHECK(ring_push(&rb, 9));
    CHECK(slots[1] == 9);
    CHECK(slots[0] == 1 && slots[2] == 3);
    CHECK(rb.count == 3);
    return 0;
}

static int test_push_refuses_when_full(void)
{
    int slots[2] = {0};
    ring_buffer rb = {slots, 2, 0, 0};
    CHECK(ring_push(&rb, 5));
    CHECK(ring_push(&rb, 6));
    CHECK(!ring_push(&rb, 7));
    CHECK(rb.count == 2);
    CHECK(slots[0] == 5 && slots[1] == 6);
    return 0;
}

static int test_pop_takes_the_oldest(void)
{
    int slots[3] = {4, 5, 6};
    ring_buffer rb = {slots, 3, 1, 2};
    int out = 0;
    CHECK(ring_pop(&rb, &out));
    CHECK(out == 5);
    CHECK(rb.head == 2);
    CHECK(rb.count == 1);
    return 0;
}

static int test_pop_wraps_around(void)
{
    int slots[3] = {4, 5, 6};
    ring_buffer rb = {slots, 3, 2, 2};
    int out = 0;
    CHECK(ring_pop(&rb, &out) && out == 6);
    CHECK(rb.head == 0);
    CHECK(ring_pop(&rb, &out) && out == 4);
    CHECK(rb.count == 0);
    return 0;
}

static int test_pop_refuses_when_empty(void)
{
    int slots[3] = {4, 5, 6};
    ring_buffer rb = {slots, 3, 1, 0};
    int out = 77;
    CHECK(!ring_pop(&rb, &out));
    CHECK(out == 77);
    CHECK(rb.head == 1);
    CHECK(rb.count == 0);
    return 0;
}

static int test_peek_counts_from_the_oldest(void)
{
    int slots[3] = {30, 10, 20};
    ring_buffer rb = {slots, 3, 1, 3};
    int out = 0;
    CHECK(ring_peek(&rb, 0, &out) && out == 10);
    CHECK(ring_peek(&rb, 1, &out) && out == 20);
    CHECK(ring_peek(&rb, 2, &out) && out == 30);
    CHECK(rb.count == 3);
    return 0;
}

static int test_peek_refuses_past_the_end(void)
{
    int slots[3] = {1, 2, 3};
    ring_buffer rb = {slots, 3, 0, 2};
    int out = 77;
    CHECK(!ring_peek(&rb, 2, &out));
    CHECK(out == 77);
    return 0;
}

static int test_clear_empties_and_zeroes(void)
{
    int slots[4] = {1, 2, 3, 4};
    ring_buffer rb = {slots, 4, 3, 2};
    ring_clear(&rb);
    CHECK(rb.count == 0);
    CHECK(rb.head == 0);
    CHECK(rb.capacity == 4);
    for (int i = 0; i < 4; i++) {
        CHECK(slots[i] == 0);
    }
    return 0;
}

static int test_copy_out_copies_all(void)
{
    int slots[4] = {3, 4, 1, 2};
    int dest[5] = {0, 0, 0, 0, 99};
    ring_buffer rb = {slots, 4, 2, 4};
    CHECK(ring_copy_out(&rb, dest, 5) == 4);
    CHECK(dest[0] == 1 && dest[1] == 2 && dest[2] == 3 && dest[3] == 4);
    CHECK(dest[4] == 99);
    CHECK(rb.count == 4 && rb.head == 2);
    return 0;
}

static int test_copy_out_stops_at_max(void)
{
    int slots[4] = {3, 4, 1, 2};
    int dest[3] = {0, 0, 99};
    ring_buffer rb = {slots, 4, 2, 4};
    CHECK(ring_copy_out(&rb, dest, 2) == 2);
    CHECK(dest[0] == 1 && dest[1] == 2);
    CHECK(dest[2] == 99);
    return 0;
}

static int test_max_looks_at_elements_in_use(void)
{
    int slots[4] = {100, -5, -2, -9};
    ring_buffer rb = {slots, 4, 1, 3};
    CHECK(ring_max(&rb) == -2);
    return 0;
}

static int test_max_of_empty_is_int_min(void)
{
    int slots[2] = {8, 9};
    ring_buffer rb = {slots, 2, 0, 0};
    CHECK(ring_max(&rb) == INT_MIN);
    return 0;
}

typedef struct {
    const char *name;
    int (*run)(void);
} test_case;

#define TEST(name) {#name, name}

static const test_case tests[] = {
    TEST(test_count),
    TEST(test_create_makes_an_empty_buffer),
    TEST(test_create_refuses_capacity_zero),
    TEST(test_destroy_accepts_null),
    TEST(test_destroy_gives_memory_back),
    TEST(test_push_stores_in_order),
    TEST(test_push_wraps_around),
    TEST(test_push_refuses_when_full),
    TEST(test_pop_takes_the_oldest),
    TEST(test_pop_wraps_around),
    TEST(test_pop_refuses_when_empty),
    TEST(test_peek_counts_from_the_oldest),
    TEST(test_peek_refuses_past_the_end),
    TEST(test_clear_empties_and_zeroes),
    TEST(test_copy_out_copies_all),
    TEST(test_copy_out_stops_at_max),
    TEST(test_max_looks_at_elements_in_use),
    TEST(test_max_of_empty_is_int_min),
};

static int passes(const test_case *test)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return 0;
    }
    if (child == 0) {
        alarm(5);
        int result = test->run();
        fflush(NULL);
        _exit(result);
    }
    if (waitpid(child, &status, 0) < 0) {
        return 0;
    }
    if (WIFSIGNALED(status)) {
        printf("%s: killed by signal %d (%s)\n", test->name, WTERMSIG(status), strsignal(WTERMSIG(status)));
        return 0;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void)
{
    int passed = 0;
    int failed = 0;
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        if (passes(&tests[i])) {
            passed++;
            printf("PASS %s\n", tests[i].name);
        } else {
            failed++;
            printf("FAIL %s\n", tests[i].name);
        }
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
