verl_program(verl-node-agent SOURCES main.cpp DEPS verl_agent CLI11::CLI11)
