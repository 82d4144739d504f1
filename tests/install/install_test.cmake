# cmake -DBUILD=<build folder> -DCXX=<compiler> -P install_test.cmake
# Installs into a temporary prefix, builds the client against it, runs client and program.
set(prefix ${BUILD}/install-test/prefix)
set(client ${BUILD}/install-test/client)
file(REMOVE_RECURSE ${BUILD}/install-test)
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR} -B ${client}
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${client})
run(${client}/client)
run(${prefix}/bin/mirage --version)
