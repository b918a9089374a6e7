"""Why a compile or link failed: facts first, then the three yes/no questions about what they leave open."""
