# mirage_layer(NAME DEPS layer... SOURCES file... [LIBS target...])
#
# Makes the static library mirage_NAME with alias mirage::NAME from the files of src/NAME (headers
# and .def files are listed too: they are installed). Include root is src/. DEPS are the layers it
# may include from; `verify/verdict.h` means: only this header of verify. tools/check_layers.py
# holds the includes against DEPS, and DEPS against the picture.
function(mirage_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS;SOURCES;LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "mirage_layer(${name}): what is ${arg_UNPARSED_ARGUMENTS}?")
  endif()
  set(target mirage_${name})
  set(headers ${arg_SOURCES})
  list(FILTER headers INCLUDE REGEX "\\.(h|def)$")

  add_library(${target} STATIC ${arg_SOURCES})
  add_library(mirage::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${headers})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                              $<INSTALL_INTERFACE:include/mirage>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(MIRAGE_DCHECKS)
    target_compile_definitions(${target} PUBLIC MIRAGE_DCHECKS=1)
  endif()
  mirage_compile_options(${target})

  list(TRANSFORM arg_DEPS REPLACE "/.*" "")
  list(REMOVE_DUPLICATES arg_DEPS)
  list(TRANSFORM arg_DEPS PREPEND "mirage::")
  target_link_libraries(${target} PUBLIC ${arg_DEPS} ${arg_LIBS})
  set_property(GLOBAL APPEND PROPERTY MIRAGE_INSTALLED_TARGETS ${target})
  set_property(GLOBAL APPEND PROPERTY MIRAGE_LAYER_TARGETS ${target})
endfunction()

# mirage::mirage: every layer at once.
function(mirage_umbrella)
  get_property(targets GLOBAL PROPERTY MIRAGE_LAYER_TARGETS)
  add_library(mirage_all INTERFACE)
  add_library(mirage::mirage ALIAS mirage_all)
  set_target_properties(mirage_all PROPERTIES EXPORT_NAME mirage)
  target_link_libraries(mirage_all INTERFACE ${targets})
  set_property(GLOBAL APPEND PROPERTY MIRAGE_INSTALLED_TARGETS mirage_all)
endfunction()
