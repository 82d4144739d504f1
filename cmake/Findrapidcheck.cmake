# For installations of RapidCheck without its CMake package. Makes rapidcheck and rapidcheck_gtest.
find_path(rapidcheck_INCLUDE_DIR rapidcheck.h)
find_library(rapidcheck_LIBRARY rapidcheck)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(rapidcheck REQUIRED_VARS rapidcheck_LIBRARY rapidcheck_INCLUDE_DIR)
if(rapidcheck_FOUND AND NOT TARGET rapidcheck)
  add_library(rapidcheck UNKNOWN IMPORTED)
  set_target_properties(rapidcheck PROPERTIES
    IMPORTED_LOCATION ${rapidcheck_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${rapidcheck_INCLUDE_DIR})
  add_library(rapidcheck_gtest INTERFACE IMPORTED)
  target_link_libraries(rapidcheck_gtest INTERFACE rapidcheck)
endif()
mark_as_advanced(rapidcheck_INCLUDE_DIR rapidcheck_LIBRARY)
