// The chosen mutant: the environment says which, or the program that loaded the module.
#include <cstdlib>

#include "mutants.hpp"

extern "C" {
int kleene_mutant = std::getenv("KLEENE_MUTANT") ? std::atoi(std::getenv("KLEENE_MUTANT")) : 0;
unsigned char* kleene_executed = nullptr;

__attribute__((visibility("default"))) void kleene_choose_mutant(int number) {
  kleene_mutant = number;
}

__attribute__((visibility("default"))) void kleene_record_mutants(unsigned char* executed) {
  kleene_executed = executed;
}
}
