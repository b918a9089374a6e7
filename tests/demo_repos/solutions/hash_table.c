#include "hash_table.h"

#include <stdlib.h>
#include <string.h>

static size_t bucket_of(const char *key, size_t bucket_count)
{
    size_t hash = 5381;
    for (const char *c = key; *c != '\0'; c++) {
        hash = hash * 33 + (unsigned char)*c;
    }
    return hash % bucket_count;
}

hash_table *hash_table_create(size_t bucket_count)
{
    if (bucket_count == 0) {
        return NULL;
    }
    hash_table *table = malloc(sizeof *table);
    if (table == NULL) {
        return NULL;
    }
    table->buckets = calloc(bucket_count, sizeof *table->buckets);
    if (table->buckets == NULL) {
        free(table);
        return NULL;
    }
    table->bucket_count = bucket_count;
    table->count = 0;
    return table;
}

void hash_table_destroy(hash_table *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t i = 0; i < table->bucket_count; i++) {
        hash_entry *entry = table->buckets[i];
        while (entry != NULL) {
            hash_entry *next = entry->next;
            free(entry->key);
            free(entry);
            entry = next;
        }
    }
    free(table->buckets);
    free(table);
}

bool hash_table_insert(hash_table *table, const char *key, int value)
{
    size_t bucket = bucket_of(key, table->bucket_count);
    for (hash_entry *entry = table->buckets[bucket]; entry != NULL; entry = entry->next) {
        if (strcmp(entry->key, key) == 0) {
            entry->value = value;
            return true;
        }
    }
    hash_entry *entry = malloc(sizeof *entry);
    if (entry == NULL) {
        return false;
    }
    entry->key = malloc(strlen(key) + 1);
    if (entry->key == NULL) {
        free(entry);
        return false;
    }
    strcpy(entry->key, key);
    entry->value = value;
    entry->next = table->buckets[bucket];
    table->buckets[bucket] = entry;
    table->count++;
    return true;
}

bool hash_table_lookup(const hash_table *table, const char *key, int *value)
{
    hash_entry *entry = table->buckets[bucket_of(key, table->bucket_count)];
    for (; entry != NULL; entry = entry->next) {
        if (strcmp(entry->key, key) == 0) {
            *value = entry->value;
            return true;
        }
    }
    return false;
}

bool hash_table_delete(hash_table *table, const char *key)
{
    hash_entry **link = &table->buckets[bucket_of(key, table->bucket_count)];
    for (; *link != NULL; link = &(*link)->next) {
        if (strcmp((*link)->key, key) == 0) {
            hash_entry *entry = *link;
            *link = entry->next;
            free(entry->key);
            free(entry);
            table->count--;
            return true;
        }
    }
    return false;
}

bool hash_table_resize(hash_table *table, size_t bucket_count)
{
    if (bucket_count == 0) {
        return false;
    }
    hash_entry **buckets = calloc(bucket_count, sizeof *buckets);
    if (buckets == NULL) {
        return false;
    }
    for (size_t i = 0; i < table->bucket_count; i++) {
        hash_entry *entry = table->buckets[i];
        while (entry != NULL) {
            hash_entry *next = entry->next;
            size_t bucket = bucket_of(entry->key, bucket_count);
            entry->next = buckets[bucket];
            buckets[bucket] = entry;
            entry = next;
        }
    }
    free(table->buckets);
    table->buckets = buckets;
    table->bucket_count = bucket_count;
    return true;
}

size_t hash_table_count(const hash_table *table)
{
    return table->count;
}
