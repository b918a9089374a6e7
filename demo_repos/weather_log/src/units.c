#include "units.h"

int units_fahrenheit(int celsius)
{
    return celsius * 9 / 5 + 320;
}

int units_inches(int hectopascal)
{
    return (int)((long)hectopascal * 2953 / 10000);
}

int units_whole(int tenths)
{
    return (tenths >= 0 ? tenths + 5 : tenths - 5) / 10;
}
