/*
 * Acceptance test of src/hash_table.h. Each test runs in a process of its own, so that one that crashes or hangs
 * is counted as failed and the others still run.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hash_table.h"

#define CHECK(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);  \
            return 1;                                                         \
        }                                                                     \
    } while (0)

static int test_create_empty(void)
{
    hash_table *table = hash_table_create(8);
    CHECK(table != NULL);
    CHECK(hash_table_count(table) == 0);
    hash_table_destroy(table);
    return 0;
}

static int test_create_refuses_zero(void)
{
    CHECK(hash_table_create(0) == NULL);
    return 0;
}

static int test_destroy_accepts_null(void)
{
    hash_table_destroy(NULL);
    return 0;
}

static int test_insert_and_lookup(void)
{
    int value = 0;
    hash_table *table = hash_table_create(8);
    CHECK(table != NULL);
    CHECK(hash_table_insert(table, "one", 1));
    CHECK(hash_table_insert(table, "two", 2));
    CHECK(hash_table_count(table) == 2);
    CHECK(hash_table_lookup(table, "one", &value) && value == 1);
    CHECK(hash_table_lookup(table, "two", &value) && value == 2);
    hash_table_destroy(table);
    return 0;
}

static int test_lookup_of_a_missing_key(void)
{
    int value = 77;
    hash_table *table = hash_table_create(4);
    CHECK(table != NULL);
    CHECK(!hash_table_lookup(table, "nothing", &value));
    CHECK(hash_table_insert(table, "one", 1));
    CHECK(!hash_table_lookup(table, "on", &value));
    CHECK(value == 77);
    hash_table_destroy(table);
    return 0;
}

static int test_insert_replaces_the_value(void)
{
    int value = 0;
    hash_table *table = hash_table_create(4);
    CHECK(table != NULL);
    CHECK(hash_table_insert(table, "key", 1));
    CHECK(hash_table_insert(table, "key", 2));
    CHECK(hash_table_count(table) == 1);
    CHECK(hash_table_lookup(table, "key", &value) && value == 2);
    hash_table_destroy(table);
    return 0;
}

static int test_insert_copies_the_key(void)
{
    int value = 0;
    char key[8] = "abc";
    hash_table *table = hash_table_create(4);
    CHECK(table != NULL);
    CHECK(hash_table_insert(table, key, 5));
    strcpy(key, "xyz");
    CHECK(hash_table_lookup(table, "abc", &value) && value == 5);
    CHECK(!hash_table_lookup(table, "xyz", &value));
    hash_table_destroy(table);
    return 0;
}

static int test_keys_share_one_bucket(void)
{
    int value = 0;
    char key[16];
    hash_table *table = hash_table_create(1);
    CHECK(table != NULL);
    for (int i = 0; i < 50; i++) {
        snprintf(key, sizeof key, "key%d", i);
        CHECK(hash_table_insert(table, key, i));
    }
    CHECK(hash_table_count(table) == 50);
    for (int i = 0; i < 50; i++) {
        snprintf(key, sizeof key, "key%d", i);
        CHECK(hash_table_lookup(table, key, &value) && value == i);
    }
    hash_table_destroy(table);
    return 0;
}

static int test_delete_removes_one_key(void)
{
    int value = 0;
    hash_table *table = hash_table_create(1);
    CHECK(table != NULL);
    CHECK(hash_table_insert(table, "a", 1));
    CHECK(hash_table_insert(table, "b", 2));
    CHECK(hash_table_insert(table, "c", 3));
    CHECK(hash_table_delete(table, "b"));
    CHECK(hash_table_count(table) == 2);
    CHECK(!hash_table_lookup(table, "b", &value));
    CHECK(hash_table_lookup(table, "a", &value) && value == 1);
    CHECK(hash_table_lookup(table, "c", &value) && value == 3);
    CHECK(hash_table_delete(table, "a"));
    CHECK(hash_table_delete(table, "c"));
    CHECK(hash_table_count(table) == 0);
    hash_table_destroy(table);
    return 0;
}

static int test_delete_of_a_missing_key(void)
{
    hash_table *table = hash_table_create(2);
    CHECK(table != NULL);
    CHECK(hash_table_insert(table, "a", 1));
    CHECK(!hash_table_delete(table, "b"));
    CHECK(hash_table_count(table) == 1);
    hash_table_destroy(table);
    return 0;
}

static int test_resize_keeps_all_keys(void)
{
    int value = 0;
    char key[16];
    const size_t sizes[] = {64, 3, 1, 200};
    hash_table *table = hash_table_create(2);
    CHECK(table != NULL);
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "key%d", i);
        CHECK(hash_table_insert(table, key, i * 2));
    }
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        CHECK(hash_table_resize(table, sizes[s]));
        CHECK(table->bucket_count == sizes[s]);
        CHECK(hash_table_count(table) == 100);
        for (int i = 0; i < 100; i++) {
            snprintf(key, sizeof key, "key%d", i);
            CHECK(hash_table_lookup(table, key, &value) && value == i * 2);
        }
    }
    CHECK(hash_table_delete(table, "key7"));
    CHECK(hash_table_insert(table, "new", 1));
    CHECK(hash_table_count(table) == 100);
    hash_table_destroy(table);
    return 0;
}

static int test_resize_refuses_zero(void)
{
    int value = 0;
    hash_table *table = hash_table_create(2);
    CHECK(table != NULL);
    CHECK(hash_table_insert(table, "a", 1));
    CHECK(!hash_table_resize(table, 0));
    CHECK(hash_table_lookup(table, "a", &value) && value == 1);
    hash_table_destroy(table);
    return 0;
}

typedef struct {
    const char *name;
    int (*run)(void);
} test_case;

#define TEST(name) {#name, name}

static const test_case tests[] = {
    TEST(test_create_empty),
    TEST(test_create_refuses_zero),
    TEST(test_destroy_accepts_null),
    TEST(test_insert_and_lookup),
    TEST(test_lookup_of_a_missing_key),
    TEST(test_insert_replaces_the_value),
    TEST(test_insert_copies_the_key),
    TEST(test_keys_share_one_bucket),
    TEST(test_delete_removes_one_key),
    TEST(test_delete_of_a_missing_key),
    TEST(test_resize_keeps_all_keys),
    TEST(test_resize_refuses_zero),
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
