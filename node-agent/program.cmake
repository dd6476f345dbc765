verl_program(verl-node-agent SOURCES main.cpp DEPS verl_agent verl_kube_client CLI11::CLI11 Threads::Threads)
