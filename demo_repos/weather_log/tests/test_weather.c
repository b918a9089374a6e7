/* Tests of all modules. Each test runs in a process of its own, so that one that crashes or hangs is counted as failed. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../src/alarms.h"
#include "../src/csv.h"
#include "../src/dates.h"
#include "../src/report.h"
#include "../src/stats.h"
#include "../src/text.h"
#include "../src/units.h"

#define CHECK(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);  \
            return 1;                                                         \
        }                                                                     \
    } while (0)

static reading winter[] = {
    {2026, 1, 3, -52, 90, 10101},
    {2026, 1, 4, -35, 81, 10132},
    {2026, 1, 5, 12, 77, 10040},
    {2026, 1, 6, 40, 85, 9950},
};
static const series january = {winter, 4, 4};

static int test_leap_years(void)
{
    CHECK(date_leap(2024) && !date_leap(2026) && !date_leap(1900) && date_leap(2000));
    return 0;
}

static int test_days_of_the_year(void)
{
    CHECK(date_day_of_year(2026, 3, 1) == 60);
    CHECK(date_day_of_year(2024, 3, 1) == 61);
    return 0;
}

static int test_lines_are_parsed(void)
{
    reading one;
    CHECK(csv_parse("2026-01-14,-35,81,10132\n", &one));
    CHECK(one.temperature == -35 && one.pressure == 10132);
    CHECK(!csv_parse("2026-02-30,-35,81,10132\n", &one));
    CHECK(csv_ignored("# comment\n") && csv_ignored("\n"));
    return 0;
}

static int test_readings_are_kept_by_date(void)
{
    series all;
    series_init(&all);
    for (size_t i = 4; i > 0; i--) {
        CHECK(series_add(&all, &winter[i - 1]));
    }
    CHECK(series_at(&all, 0)->day == 3 && series_at(&all, 3)->day == 6);
    CHECK(series_find(&all, 2026, 1, 5) == 2);
    series_free(&all);
    return 0;
}

static int test_both_ends_lie_between(void)
{
    CHECK(series_between(&january, &winter[0], &winter[3]) == 4);
    CHECK(series_between(&january, &winter[1], &winter[1]) == 1);
    return 0;
}

static int test_statistics(void)
{
    CHECK(stats_min(&january, stat_temperature) == -52);
    CHECK(stats_max(&january, stat_humidity) == 90);
    CHECK(stats_mean(&january, stat_temperature) == -8);
    CHECK(stats_median(&january, stat_temperature) == -35);
    CHECK(stats_largest_step(&january, stat_pressure) == 92);
    return 0;
}

static int test_units(void)
{
    CHECK(units_fahrenheit(100) == 500);
    CHECK(units_whole(-15) == -2 && units_whole(14) == 1);
    return 0;
}

static int test_alarms(void)
{
    alarm_limits limits = alarm_defaults();
    CHECK(alarm_frost(&limits, &winter[0]) && !alarm_heat(&limits, &winter[3]));
    CHECK(alarm_storm(&limits, &winter[1], &winter[2]));
    return 0;
}

static int test_report_date_has_two_digits(void)
{
    char out[32] = "";
    CHECK(report_date(&winter[1], out, sizeof out) == 10);
    CHECK(strcmp(out, "2026-01-04") == 0);
    return 0;
}

static int test_report_cold_days(void)
{
    CHECK(report_cold_days(&january, 0) == 2);
    CHECK(report_cold_days(&january, 12) == 3);
    return 0;
}

static int test_report_seasons(void)
{
    size_t days[4] = {7, 7, 7, 7};
    report_seasons(&january, days);
    CHECK(days[0] == 4 && days[1] == 0 && days[2] == 0 && days[3] == 0);
    return 0;
}

static int test_report_bar(void)
{
    char *bar = report_bar(3, 8);
    CHECK(bar != NULL);
    CHECK(strcmp(bar, "###.....") == 0);
    free(bar);
    return 0;
}

typedef struct {
    const char *name;
    int (*run)(void);
} test_case;

#define TEST(name) {#name, name}

static const test_case tests[] = {
    TEST(test_leap_years),
    TEST(test_days_of_the_year),
    TEST(test_lines_are_parsed),
    TEST(test_readings_are_kept_by_date),
    TEST(test_both_ends_lie_between),
    TEST(test_statistics),
    TEST(test_units),
    TEST(test_alarms),
    TEST(test_report_date_has_two_digits),
    TEST(test_report_cold_days),
    TEST(test_report_seasons),
    TEST(test_report_bar),
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
