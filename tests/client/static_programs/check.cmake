# cmake -DWORK=<folder> -P check.cmake: the check passes a static program without cpp-httplib and names one that has it (T14).
foreach(seed IN ITEMS OFF ON)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/${seed} -DSEED=${seed} -DCMAKE_CXX_COMPILER_WORKS=1
                  RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(NOT seed AND (NOT code EQUAL 0 OR NOT said MATCHES "tool: static, uses no library"))
    message(FATAL_ERROR "a static program without cpp-httplib was refused: ${said}")
  endif()
  if(seed AND (code EQUAL 0 OR NOT said MATCHES "tool is linked with -static, but uses .*inner → PkgConfig::HTTPLIB"))
    message(FATAL_ERROR "a static program with cpp-httplib was not named: ${said}")
  endif()
endforeach()
