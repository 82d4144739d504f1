# Tests are registered with ctest one per executable; each executable leaves an XML file with its
# cases in MIRAGE_TEST_RESULTS, which tools/count_tests.py counts.

set(MIRAGE_TEST_RESULTS ${PROJECT_BINARY_DIR}/test-results)

# mirage_test(NAME LABELS label... SOURCES file... [LIBS target...] [TIMEOUT seconds])
#
# One GoogleTest executable. The target tests_LABEL builds all executables of a label.
# Labels: unit ops golden property device python install check; additionally `thread` for what the
# tsan preset runs and `gpu`, `slow` for what the ordinary run leaves out.
function(mirage_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABELS;SOURCES;LIBS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  add_executable(${name} ${arg_SOURCES})
  mirage_compile_options(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE MIRAGE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             MIRAGE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gmock GTest::gtest_main)
  mirage_add_test(${name} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT}
    COMMAND ${name} --gtest_output=xml:${MIRAGE_TEST_RESULTS}/${name}.xml)
  foreach(label IN LISTS arg_LABELS)
    mirage_label_target(${label})
    add_dependencies(tests_${label} ${name})
  endforeach()
endfunction()

# mirage_layer_tests(LAYER SOURCES file... [LABELS thread] [LIBS target...])
#
# The unit tests of a layer, in tests/unit/LAYER/.
function(mirage_layer_tests layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LABELS;LIBS")
  mirage_test(${layer}_test LABELS unit ${arg_LABELS} SOURCES ${arg_SOURCES}
    LIBS mirage::${layer} ${arg_LIBS})
endfunction()

# mirage_add_test(NAME LABELS label... COMMAND ... [TIMEOUT seconds]): add_test with labels.
function(mirage_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABELS;COMMAND")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()

# mirage_fuzzer(NAME SOURCES file... [LIBS target...]): a libFuzzer program, in target `fuzzers`.
function(mirage_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  add_executable(${name} ${arg_SOURCES})
  mirage_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${arg_LIBS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name})
endfunction()

# mirage_benchmark(NAME SOURCES file... [LIBS target...]): a Google Benchmark program.
function(mirage_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  add_executable(${name} ${arg_SOURCES})
  mirage_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} benchmark::benchmark_main)
endfunction()

function(mirage_label_target label)
  if(NOT TARGET tests_${label})
    add_custom_target(tests_${label})
  endif()
endfunction()
