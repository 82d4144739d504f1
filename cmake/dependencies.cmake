# Libraries our code is built on. Keep mirage-config.cmake.in in step: clients find the same ones.

find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(xxHash REQUIRED)
if(MIRAGE_PORTABLE AND NOT MIRAGE_PYTHON) # the archive is not position-independent
  find_library(SQLite3_LIBRARY NAMES libsqlite3.a sqlite3)
endif()
find_package(SQLite3 REQUIRED)
find_package(CLI11 2.1 REQUIRED)

# {fmt} as a shared library does not travel; header-only does.
if(MIRAGE_PORTABLE)
  set(MIRAGE_FMT fmt::fmt-header-only)
else()
  set(MIRAGE_FMT fmt::fmt)
endif()

if(MIRAGE_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck CONFIG QUIET)
  if(NOT rapidcheck_FOUND)
    find_package(rapidcheck MODULE REQUIRED)
  endif()
endif()
if(MIRAGE_BENCH)
  find_package(benchmark REQUIRED)
endif()
