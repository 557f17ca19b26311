/**
 * Tests of engine and Redis backend together, in several JVMs, against a real Redis.
 */
package io.github.distributedlock.multijvm;
