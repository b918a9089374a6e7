#include "dates.h"

bool date_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int date_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12) {
        return 0;
    }
    return month == 2 && date_leap(year) ? 29 : days[month - 1];
}

bool date_exists(int year, int month, int day)
{
    return year >= 1900 && day >= 1 && day <= date_days(year, month);
}

int date_day_of_year(int year, int month, int day)
{
    int passed = 0;
    for (int before = 1; before < month; before++) {
        passed += date_days(year, before);
    }
    return passed + day;
}

int date_season(int month)
{
    return month % 12 / 3;
}
