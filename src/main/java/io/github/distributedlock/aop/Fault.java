package io.github.distributedlock.aop;

/**
 * What is wrong with an attribute, and what to write instead.
 *
 * @param problem what is wrong, as it goes on after the attribute and its value
 * @param remedy what to write instead
 */
record Fault(String problem, String remedy) {
}
