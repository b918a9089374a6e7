#ifndef HASH_TABLE_H
#define HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hash_entry {
    char *key;
    int value;
    struct hash_entry *next;
} hash_entry;

typedef struct {
    hash_entry **buckets;
    size_t bucket_count;
    size_t count;
} hash_table;

hash_table *hash_table_create(size_t bucket_count);
void hash_table_destroy(hash_table *table);
bool hash_table_insert(hash_table *table, const char *key, int value);
bool hash_table_lookup(const hash_table *table, const char *key, int *value);
bool hash_table_delete(hash_table *table, const char *key);
bool hash_table_resize(hash_table *table, size_t bucket_count);
size_t hash_table_count(const hash_table *table);

#endif
