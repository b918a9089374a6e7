#include "alarms.h"

alarm_limits alarm_defaults(void)
{
    alarm_limits limits = {0, 300, 80};
    return limits;
}

bool alarm_frost(const alarm_limits *limits, const reading *one)
{
    return one->temperature <= limits->frost;
}

bool alarm_heat(const alarm_limits *limits, const reading *one)
{
    return one->temperature >= limits->heat;
}

bool alarm_storm(const alarm_limits *limits, const reading *before, const reading *now)
{
    return before->pressure - now->pressure >= limits->storm;
}
