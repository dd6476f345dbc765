# Target functions: every target of ours gets the same warnings, include roots and sanitizers.

set(VERL_SANITIZE "" CACHE STRING "sanitizers for every target, e.g. address,undefined or thread")

add_library(verl_warnings INTERFACE)
target_compile_options(verl_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 raises these on correct code at -O2 and above; clang keeps its own checks.
  target_compile_options(verl_warnings INTERFACE
    -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized)
endif()
target_include_directories(verl_warnings INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src/common)

add_library(verl_flags INTERFACE)
target_link_libraries(verl_flags INTERFACE verl_warnings)
if(VERL_SANITIZE)
  target_compile_options(verl_flags INTERFACE -fsanitize=${VERL_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(verl_flags INTERFACE -fsanitize=${VERL_SANITIZE})
endif()

# verl_library(NAME SOURCES a.cpp ... DEPS target ...): a static library of one architecture word.
function(verl_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC verl_flags ${ARG_DEPS})
endfunction()

# verl_program(NAME SOURCES main.cpp ... DEPS target ...): one executable in <build>/bin.
function(verl_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE verl_flags ${ARG_DEPS})
endfunction()

# verl_test(NAME SOURCES x_test.cpp ... DEPS target ... LABELS unit [WRAP cmd ...]): one gtest binary, one ctest entry.
# WRAP puts a command in front of it (a control plane, a lab). The working directory is the source root.
function(verl_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS;WRAP;ARGS;ENVIRONMENT" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE verl_flags ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if("unit" IN_LIST ARG_LABELS)
    if(NOT TARGET unit_tests)
      add_custom_target(unit_tests)
    endif()
    add_dependencies(unit_tests ${name})
  endif()
  add_test(NAME ${name} COMMAND ${ARG_WRAP} $<TARGET_FILE:${name}> ${ARG_ARGS} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set(environment "VERL_BIN=${CMAKE_BINARY_DIR}/bin" "VERL_SOURCE=${CMAKE_SOURCE_DIR}")
  if(VERL_SANITIZE MATCHES "thread")
    list(APPEND environment "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/cmake/tsan.supp")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "${environment};${ARG_ENVIRONMENT}")
endfunction()
