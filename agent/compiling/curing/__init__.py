"""What cures a failed compile or link: includes proven by recompiling, heads rewritten, libraries named."""
