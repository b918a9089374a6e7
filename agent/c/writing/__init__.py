"""C that is written: functions out of a reply put into their file, stubs, comments and files of tests."""
