/**
 * Real Redis servers for the tests.
 */
package io.github.distributedlock.test;
