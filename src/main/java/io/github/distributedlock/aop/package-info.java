/**
 * Turns a call of an annotated method into a request for its lock, with Spring AOP.
 */
@NullMarked
package io.github.distributedlock.aop;

import org.jspecify.annotations.NullMarked;
