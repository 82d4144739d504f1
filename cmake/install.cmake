# `cmake --install` and `find_package(mirage)`. The Python module is installed by python/ alone.
include(CMakePackageConfigHelpers)

set(package_dir lib/cmake/mirage)
get_property(installed GLOBAL PROPERTY MIRAGE_INSTALLED_TARGETS)
install(TARGETS ${installed} EXPORT mirage-targets
  ARCHIVE DESTINATION lib
  RUNTIME DESTINATION bin
  FILE_SET HEADERS DESTINATION include/mirage)
install(EXPORT mirage-targets NAMESPACE mirage:: DESTINATION ${package_dir})
configure_package_config_file(cmake/mirage-config.cmake.in mirage-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(mirage-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mirage-config.cmake
              ${PROJECT_BINARY_DIR}/mirage-config-version.cmake
              cmake/FindxxHash.cmake
  DESTINATION ${package_dir})
