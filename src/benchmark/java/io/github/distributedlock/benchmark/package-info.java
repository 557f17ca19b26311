/**
 * Measures, and asserts nothing: ratios against a peer in the same run.
 */
@NullMarked
package io.github.distributedlock.benchmark;

import org.jspecify.annotations.NullMarked;
