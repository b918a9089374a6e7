"""What a piece of C declares: functions, types and names, by syntax tree and by a scan that steps over odd text."""
