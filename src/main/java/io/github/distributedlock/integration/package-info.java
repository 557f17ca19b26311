/**
 * Provides lock registries for Spring Integration.
 */
@NullMarked
package io.github.distributedlock.integration;

import org.jspecify.annotations.NullMarked;
