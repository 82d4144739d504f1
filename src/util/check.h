#pragma once
// Invariants of our own code. A failing check is a bug in Mirage, never a user's mistake: it prints
// the expression and the sentence, and aborts.

namespace mirage {
[[noreturn]] void check_failed(const char* expression, const char* message, const char* file,
                               int line);
}

#define MIRAGE_CHECK(condition, message) \
  ((condition) ? void(0) : ::mirage::check_failed(#condition, message, __FILE__, __LINE__))

#ifdef MIRAGE_DCHECKS
#define MIRAGE_DCHECK(condition, message) MIRAGE_CHECK(condition, message)
#else
#define MIRAGE_DCHECK(condition, message) void(0)
#endif
