/**
 * The contract test of a store, and the checker of a history of locks.
 */
package io.github.distributedlock.tck;
