verl_program(verl-operator
  SOURCES main.cpp options.cpp
  DEPS verl_operator_controller verl_kube_client CLI11::CLI11)
target_compile_definitions(verl-operator PRIVATE VERL_VERSION="${PROJECT_VERSION}")
